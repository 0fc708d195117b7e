import { type Kysely, sql } from 'kysely'
import { replaceCiphertext } from '../db/ciphertext.ts'
import type { Database } from '../db/schema.ts'
import type { IdPrefix } from '../ids.ts'
import type { SecretBox } from '../secrets.ts'
import type { EmailContent } from './compose.ts'
import type { Email } from './transport.ts'

type EmailKind = 'invitation' | 'password_reset' | 'alert'

export interface NewEmail extends Email {
  kind: EmailKind
  accountId: string | undefined
  /** The email is dropped after this time, for example because its link has expired. */
  validSeconds: number
}

interface OutboxDeps {
  db: Kysely<Database>
  secrets: SecretBox
  newId: (prefix: IdPrefix) => string
}

/** An SMTP server that is down for a day must not fill the database. */
const maxWaiting = 10_000
/** The rest is reserved for invitations and password resets, which somebody is waiting for. */
const maxWaitingAlerts = maxWaiting / 2
const maxWaitingAlertsPerAccount = 100

/**
 * Stores emails to be sent by any server, so that they survive a crash and an SMTP server that is down. Within a
 * transaction, they are sent only if it commits. Returns false if too many emails are waiting: then those that exceed a
 * limit are not stored.
 */
export async function enqueueEmails({ db, secrets, newId }: OutboxDeps, emails: readonly NewEmail[]): Promise<boolean> {
  if (emails.length === 0) return true
  const accepted = acceptWithinLimits(await countEmails(db), emails)
  if (accepted.length === 0) return false
  const rows = accepted.map(({ kind, accountId, to, validSeconds, ...content }) => {
    const id = newId('eml')
    return {
      id,
      kind,
      account_id: accountId ?? null,
      recipient: to,
      content_encrypted: secrets.encrypt(JSON.stringify(content), contentPurpose(id)),
      expires_at: sql<Date>`now() + make_interval(secs => ${validSeconds})`,
    }
  })
  await db.insertInto('emails').values(rows).execute()
  return accepted.length === emails.length
}

interface WaitingEmails {
  all: number
  alerts: number
  /** Emails without an account are under `''`. */
  alertsByAccount: Map<string, number>
}

/** Counts the emails of all accounts. */
async function countEmails(db: Kysely<Database>): Promise<WaitingEmails> {
  const rows = await db
    .selectFrom('emails')
    .select(['account_id as accountId', sql<boolean>`kind = 'alert'`.as('isAlert')])
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .groupBy(['account_id', 'isAlert'])
    .execute()
  const sum = (counted: typeof rows) => counted.reduce((total, { count }) => total + Number(count), 0)
  const alerts = rows.filter((row) => row.isAlert)
  return {
    all: sum(rows),
    alerts: sum(alerts),
    alertsByAccount: new Map(alerts.map((row) => [row.accountId ?? '', Number(row.count)])),
  }
}

/** An account that changes state often must not use up the limit of the others. */
function acceptWithinLimits(waiting: WaitingEmails, emails: readonly NewEmail[]): NewEmail[] {
  let { all, alerts } = waiting
  const ofAccount = new Map(waiting.alertsByAccount)
  return emails.filter(({ kind, accountId = '' }) => {
    if (all >= maxWaiting) return false
    if (kind === 'alert') {
      const own = ofAccount.get(accountId) ?? 0
      if (alerts >= maxWaitingAlerts || own >= maxWaitingAlertsPerAccount) return false
      alerts += 1
      ofAccount.set(accountId, own + 1)
    }
    all += 1
    return true
  })
}

export interface ClaimedEmail {
  id: string
  kind: EmailKind
  recipient: string
  contentEncrypted: string
  /** Includes the current attempt. */
  attempts: number
  expired: boolean
}

/**
 * Claims due emails of all accounts until the lease ends, alerts last; a crashed process releases them by doing
 * nothing.
 */
export async function claimEmails(
  db: Kysely<Database>,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<ClaimedEmail[]> {
  const { rows } = await sql<ClaimedEmail>`
    update emails set due_at = now() + make_interval(secs => ${leaseSeconds}), attempts = attempts + 1
    where id in (
      select id from emails where due_at <= now()
      order by kind = 'alert', due_at limit ${limit} for update skip locked
    )
    returning id, kind, recipient, content_encrypted as "contentEncrypted", attempts, expires_at <= now() as expired`.execute(
    db,
  )
  return rows
}

export function openEmail(secrets: SecretBox, { id, contentEncrypted, recipient }: ClaimedEmail): Email {
  // Only `enqueueEmails` writes this content.
  const content = JSON.parse(secrets.decrypt(contentEncrypted, contentPurpose(id))) as EmailContent
  return { ...content, to: recipient }
}

/** Deletes the emails of an account to one recipient that wait to be sent. */
export async function deleteWaitingEmails(
  db: Kysely<Database>,
  { accountId, kind, to }: Pick<NewEmail, 'accountId' | 'kind' | 'to'> & { accountId: string },
): Promise<void> {
  await db
    .deleteFrom('emails')
    .where((eb) => eb.and({ account_id: accountId, kind, recipient: to }))
    .execute()
}

/** Needs no account, because the ID is unique. */
export async function deleteEmail(db: Kysely<Database>, id: string): Promise<void> {
  await db.deleteFrom('emails').where('id', '=', id).execute()
}

/** Needs no account, because the ID is unique. */
export async function postponeEmail(db: Kysely<Database>, id: string, seconds: number): Promise<void> {
  await db
    .updateTable('emails')
    .set({ due_at: sql<Date>`now() + make_interval(secs => ${seconds})` })
    .where('id', '=', id)
    .execute()
}

/** Lists the encrypted contents of all accounts, so that they can be encrypted with another key. */
export async function listEmailSecrets(db: Kysely<Database>) {
  const rows = await db.selectFrom('emails').select(['id', 'content_encrypted as ciphertext']).execute()
  return rows.map(({ id, ciphertext }) => ({
    recordId: id,
    purpose: contentPurpose(id),
    ciphertext,
    replace: (trx: Kysely<Database>, to: string) =>
      replaceCiphertext(trx, { table: 'emails', column: 'content_encrypted', key: { id } }, { from: ciphertext, to }),
  }))
}

function contentPurpose(id: string): string {
  return `emails.content:${id}`
}
