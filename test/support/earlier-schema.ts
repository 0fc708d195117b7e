/** Makes of a migrated database one of before migration 0006. */
export const undoHotUpdates = [
  'drop table overdue_messages, overdue_progress, wa_message_ids',
  'alter table messages drop column recorded_at',
  `create index messages_pending on messages (created_at) where status = 'pending'`,
  'create index messages_wa_message_id on messages (account_id, wa_message_id) where wa_message_id is not null',
  `delete from waybill_migrations where name = '0006-hot-updates'`,
]
