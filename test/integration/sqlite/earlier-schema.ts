/** Takes from a store of the present schema what came after the first one. */
export const backToFirstSchema = `
  ALTER TABLE runtime_epoch DROP COLUMN commits;
  ALTER TABLE runtime_epoch DROP COLUMN events;
  DROP TABLE approvals;
  ALTER TABLE session_admissions DROP COLUMN steers_generation;
  ALTER TABLE session_admissions DROP COLUMN if_over;
  ALTER TABLE session_admissions DROP COLUMN merged_into;
  ALTER TABLE messages DROP COLUMN answered_by;
  PRAGMA user_version = 1;
`;
