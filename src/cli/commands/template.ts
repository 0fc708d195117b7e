import type { Template } from '../../../contracts/api/template.ts'
import { changes } from '../../../contracts/changes.ts'
import { requireAccount } from '../../accounts/account.ts'
import type { Deps } from '../../deps.ts'
import { listTemplates } from '../../templates/list.ts'
import { syncTemplates } from '../../templates/sync.ts'
import { dataCommand } from '../command.ts'
import { formatTable } from '../help.ts'

const pageSize = 100

export const templateSync = dataCommand({
  name: 'template sync',
  summary: 'Sync the templates of an account from WhatsApp',
  args: ['ACC'],
  options: {},
  notes: [
    'Stores all templates, or none if WhatsApp cannot be read. Templates that WhatsApp no longer lists cannot be sent.',
  ],
  examples: ['waybill template sync acc_…'],
  audit: changes.syncTemplates,
  run: async (deps, { args: [accountId] }) => {
    const json = await syncTemplates(deps, accountId)
    return { json, text: `Synced ${json.synced} templates, ${json.approved} of them approved.` }
  },
})

export const templateList = dataCommand({
  name: 'template list',
  summary: 'List the templates of an account and the variables that they require',
  args: ['ACC'],
  options: {
    'whatsapp-account': { value: 'WA', help: 'Templates of this WhatsApp account instead of the default one' },
    status: { value: 'STATUS', help: 'Only templates with this status, such as APPROVED' },
  },
  examples: ['waybill template list acc_…', 'waybill template list acc_… --status APPROVED --json'],
  run: async (deps, { args: [accountId], options }) => {
    await requireAccount(deps.db, accountId)
    const filter = { status: options.status, accountId: options['whatsapp-account'] }
    const items = await listAllTemplates(deps, accountId, filter)
    return { json: { items }, text: formatTemplates(accountId, items) }
  },
})

async function listAllTemplates(
  deps: Deps,
  accountId: string,
  filter: { status: string | undefined; accountId: string | undefined },
): Promise<Template[]> {
  const items: Template[] = []
  let cursor: string | undefined
  do {
    const page = await listTemplates(deps, { accountId }, { ...filter, cursor, limit: pageSize })
    items.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return items
}

function formatTemplates(accountId: string, items: Template[]): string {
  if (items.length === 0) return `No templates. Sync them from WhatsApp: waybill template sync ${accountId}`
  return formatTable(
    ['NAME', 'LANGUAGE', 'STATUS', 'VARIABLES', 'REASON'],
    items.map((item) => [
      item.name,
      item.language,
      item.status,
      item.placeholders.map((placeholder) => placeholder.key).join(',') || 'none',
      item.reason ?? '',
    ]),
  )
}
