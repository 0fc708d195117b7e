import { type Kysely, sql } from 'kysely'

/** Adds the log of API requests. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table api_requests (
      account_id text collate "C" not null,
      -- The request ID, which contains the time.
      id text collate "C" not null,
      method text not null,
      path text not null,
      status integer not null,
      error_code text,
      duration_ms integer not null,
      key_start text not null,
      address text not null,
      -- Separated by +, because an array costs more.
      message_ids text,
      -- Of failures only, like the request and the answer: a message has its own.
      external_id text collate "C",
      request text,
      answer text,
      primary key (account_id, id)
    ) partition by range (id)`,
    // Partial indexes: they cost nothing for requests that succeed, or that have no external ID.
    `create index api_requests_failed on api_requests (account_id, id) where error_code is not null`,
    `create index api_requests_external_id on api_requests (external_id, account_id) where external_id is not null`,
    // Times of erasures: requests that arrived before and are not yet written can contain the erased numbers.
    `create table api_request_cutoffs (at timestamptz not null)`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
