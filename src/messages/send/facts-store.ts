import { whyInactive } from '../../whatsapp-accounts/whatsapp-account.ts'
import { dedupeByKey } from '../../platform/batch.ts'
import { BoundedMap } from '../../platform/bounded-map.ts'
import { batched } from '../../platform/db/batched.ts'
import { arraysOf, type Columns, type Lists, listsOf, namesOf, unmeasuredList } from '../../platform/db/columns.ts'
import type { StoredComponent } from '../../platform/db/schema.ts'
import { statement } from '../../platform/db/statement.ts'
import { alwaysSuppressedCategory } from '../suppressions/check.ts'
import type { Route } from '../../whatsapp/whatsapp.ts'
import type { SendableTemplate, SendFacts } from './decide.ts'

interface SendFactsRow {
  whatsAppAccountId: string
  phoneNumberId: string
  wabaId: string
  accessTokenEncrypted: string
  switchedOff: boolean
  inactiveReason: string | null
  inactiveFact: string | null
  templateStatus: string | null
  parameterFormat: string
  /** JSON. */
  components: string
  emitsSentEvent: boolean
  category: string
  stopsCategory: boolean
  stopsAllMessages: boolean
  storesContent: boolean
  route: keyof typeof routes
  messagingAccountId: string | null
}

/** The routes of a send. None is allocated per send. */
const routes = {
  marketing: ['marketing_messages', 'messages'],
  cloud_api: ['messages', 'marketing_messages'],
  /** The account is set to the Cloud API, whose provider may not have the other endpoint. */
  cloud_api_only: ['messages'],
} as const satisfies Record<string, Route>

export interface SendFactsQuery {
  accountId: string
  /** The requested WhatsApp account; undefined for the default one. */
  whatsAppAccountId: string | undefined
  template: string
  language: string
}

const sendFacts = `wa.id as "whatsAppAccountId", wa.phone_number_id as "phoneNumberId", wa.waba_id as "wabaId",
    wa.access_token_encrypted as "accessTokenEncrypted", wa.switched_off as "switchedOff",
    wa.inactive_reason as "inactiveReason", wa.inactive_fact as "inactiveFact", t.status as "templateStatus",
    t.parameter_format as "parameterFormat", t.components::text as components,
    exists (
      select from webhook_endpoints e where e.account_id = wa.account_id and 'message.sent' = any (e.events)
    ) as "emitsSentEvent",
    coalesce(t.category, '${alwaysSuppressedCategory}') as category,
    coalesce(t.category, '${alwaysSuppressedCategory}') = '${alwaysSuppressedCategory}' or exists (
      select from suppression_settings s where s.account_id = wa.account_id and t.category = any (s.categories)
    ) as "stopsCategory",
    exists (
      select from suppressions s where s.account_id = wa.account_id and s.suppressed and s.all_messages
    ) as "stopsAllMessages",
    t.category is distinct from 'AUTHENTICATION' and (
      select a.contents_kept_days is not null from accounts a where a.id = wa.account_id
    ) as "storesContent",
    case when wa.marketing_setting = 'cloud_api' then 'cloud_api_only'
      when t.category = 'MARKETING' and (wa.marketing_onboarding_status = 'ONBOARDED' or wa.marketing_off_cloud_api)
        then 'marketing'
      else 'cloud_api' end as route,
    case when wa.messaging_account_setting = 'send' then wa.waba_id end as "messagingAccountId"`

const findOneFacts = statement<SendFactsQuery, SendFactsRow>(
  'find_send_facts',
  ($) => `select ${sendFacts}
  from whatsapp_accounts wa
  left join templates t on t.account_id = wa.account_id and t.waba_id = wa.waba_id and t.name = ${$.template}
    and t.language = ${$.language}
  where wa.account_id = ${$.accountId}
    and (case when ${$.whatsAppAccountId}::text is null then wa.is_default else wa.id = ${$.whatsAppAccountId} end)`,
)

const otherColumns: Columns<Omit<SendFactsQuery, 'accountId'>> = {
  whatsAppAccountId: { name: 'whatsapp_account_id', type: 'text' },
  template: { name: 'template', type: 'text' },
  language: { name: 'language', type: 'text' },
}
const queryColumns: Columns<SendFactsQuery> = { accountId: { name: 'account_id', type: 'word' }, ...otherColumns }

const findManyFacts = statement<Lists<SendFactsQuery>, SendFactsRow & { n: number }>(
  'find_many_send_facts',
  ($) => `select r.n::integer as n, ${sendFacts}
  from unnest(${unmeasuredList($.accountId)}, ${arraysOf($, otherColumns)}) with ordinality
    as r (${namesOf(queryColumns)}, n)
  join whatsapp_accounts wa on wa.account_id = r.account_id
    and (case when r.whatsapp_account_id is null then wa.is_default else wa.id = r.whatsapp_account_id end)
  left join templates t on t.account_id = wa.account_id and t.waba_id = wa.waba_id and t.name = r.template and t.language = r.language`,
)

/** Loads everything that a send needs from the database, in one statement. */
export const findSendFacts = batched<SendFactsQuery, SendFacts>({
  name: 'find_send_facts',
  one: async (db, query) => toSendFacts((await findOneFacts(db, query))[0]),
  many: async (db, queries) => {
    const groups = dedupeByKey(queries, ({ accountId, whatsAppAccountId, template, language }) =>
      JSON.stringify([accountId, whatsAppAccountId, template, language]),
    )
    const distinct = groups.map(({ item }) => item)
    const rows = await findManyFacts(db, listsOf(queryColumns, distinct))
    const results = Array.from(queries, () => toSendFacts(undefined))
    for (const row of rows) {
      const facts = toSendFacts(row)
      for (const index of groups[row.n - 1]?.indexes ?? []) results[index] = facts
    }
    return results
  },
  groupOf: ({ accountId }) => accountId,
})

const noFacts: SendFacts = {
  whatsAppAccount: undefined,
  template: undefined,
  emitSentEvent: false,
  suppressionRule: undefined,
  storesContent: false,
  route: routes.cloud_api,
}

function toSendFacts(row: SendFactsRow | undefined): SendFacts {
  if (!row) return noFacts
  return {
    emitSentEvent: row.emitsSentEvent,
    suppressionRule:
      row.stopsCategory || row.stopsAllMessages ? { category: row.category, all: row.stopsCategory } : undefined,
    storesContent: row.storesContent,
    route: routes[row.route],
    whatsAppAccount: {
      id: row.whatsAppAccountId,
      phoneNumberId: row.phoneNumberId,
      wabaId: row.wabaId,
      accessTokenEncrypted: row.accessTokenEncrypted,
      inactiveReason: whyInactive(row),
      messagingAccountId: row.messagingAccountId ?? undefined,
    },
    template: row.templateStatus === null ? undefined : toTemplate(row.templateStatus, row),
  }
}

/** A send reads the template each time; parsing it again would take as long as the rest of the decision. */
const parsedTemplates = new BoundedMap<string, SendableTemplate>(256)

/** What is derived from a template, such as its placeholders, is cached per object, so an unchanged one stays the same. */
function toTemplate(
  status: string,
  row: Pick<SendFactsRow, 'parameterFormat' | 'components' | 'category'>,
): SendableTemplate {
  const { components: json, parameterFormat, category } = row
  const parsed = parsedTemplates.get(json)
  if (parsed?.status === status && parsed.parameterFormat === parameterFormat && parsed.category === category)
    return parsed
  // The column holds what the last sync has stored.
  const template = { status, category, parameterFormat, components: JSON.parse(json) as StoredComponent[] }
  parsedTemplates.set(json, template)
  return template
}
