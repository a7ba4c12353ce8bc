/** Takes from a store of the present schema what came after the first one. */
export const backToFirstSchema = `
  ALTER TABLE runtime_epoch DROP COLUMN commits;
  ALTER TABLE runtime_epoch DROP COLUMN events;
  DROP TABLE approvals;
  ALTER TABLE session_admissions DROP COLUMN steers_generation;
  ALTER TABLE session_admissions DROP COLUMN if_over;
  ALTER TABLE session_admissions DROP COLUMN merged_into;
  ALTER TABLE messages DROP COLUMN answered_by;
  DROP INDEX sessions_breaker;
  ALTER TABLE sessions DROP COLUMN breaker_reason;
  ALTER TABLE sessions DROP COLUMN breaker_recent;
  ALTER TABLE sessions DROP COLUMN answered_provider;
  ALTER TABLE sessions DROP COLUMN answered_model;
  ALTER TABLE sessions DROP COLUMN answered_base_url;
  DROP INDEX compressions_by_request;
  ALTER TABLE compressions DROP COLUMN execution_generation;
  ALTER TABLE compressions DROP COLUMN principal_id;
  ALTER TABLE compressions DROP COLUMN request_id;
  ALTER TABLE compressions DROP COLUMN request_digest;
  DROP TABLE learnt_windows;
  DROP TABLE session_deletions;
  ALTER TABLE sessions DROP COLUMN archived;
  ALTER TABLE sessions DROP COLUMN pinned;
  ALTER TABLE sessions DROP COLUMN deleted_at;
  ALTER TABLE sessions DROP COLUMN forked_from;
  ALTER TABLE sessions DROP COLUMN forked_from_message_id;
  PRAGMA user_version = 1;
`;
