import { type Kysely, sql } from 'kysely'

/** Adds queued emails, when sessions were last used, and who issued an invitation. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const statements = [
    `create table emails (
      id text collate "C" primary key,
      -- Absent for e-mails about a user instead of an account.
      account_id text collate "C" references accounts on delete cascade,
      kind text not null,
      recipient text not null,
      -- Subject and texts, with their links.
      content_encrypted text not null,
      attempts integer not null default 0,
      due_at timestamptz not null default now(),
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    )`,
    `create index emails_due_at on emails (due_at)`,
    // better-auth writes the columns of this table in its own spelling.
    `alter table owner_sessions add column "lastSeenAt" timestamptz, add column "lastSeenAddress" text`,
    `alter table owner_invitations
      add column invited_by text,
      -- Whether only somebody who reads the e-mails of the address can have the link, as far as we know.
      add column proves_email boolean not null default true`,
  ]
  for (const statement of statements) await sql.raw(statement).execute(db)
}
