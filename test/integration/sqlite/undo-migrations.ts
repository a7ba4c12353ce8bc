/** Makes a store of the newest schema one of the first, which has fewer columns and tables. */
export const undoMigrations = `
  DROP TABLE session_deletions;
  ALTER TABLE sessions DROP COLUMN archived;
  ALTER TABLE sessions DROP COLUMN pinned;
  ALTER TABLE sessions DROP COLUMN deleted_at;
  ALTER TABLE sessions DROP COLUMN forked_from;
  ALTER TABLE sessions DROP COLUMN forked_from_message_id;
  ALTER TABLE runtime_epoch DROP COLUMN commits;
  ALTER TABLE runtime_epoch DROP COLUMN events;
  PRAGMA user_version = 1;
`;
