import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { translate } from '../language/i18n.ts'
import type { Message } from '../../../contracts/api/message.ts'
import type { OwnTemplate } from '../../../contracts/dashboard/template.ts'
import type { Role } from '../../../contracts/procedure.ts'
import { accountPages, helpPages } from './pages.ts'
import { showRecipient } from '../ui/phone-number.ts'

interface Account {
  accountId: string
  name: string
  role: Role
}

/** Groups of the command palette, from top to bottom. */
export const groups = ['Pages', 'Actions', 'Templates', 'Messages', 'Documentation', 'Accounts'] as const

export const groupNames = {
  Pages: msg`Pages`,
  Actions: msg`Actions`,
  Templates: msg`Templates`,
  Messages: msg`Messages`,
  Documentation: msg`Documentation`,
  Accounts: msg`Accounts`,
} satisfies Record<(typeof groups)[number], MessageDescriptor>

/** An entry in the command palette. */
export interface Command {
  group: (typeof groups)[number]
  label: string
  /** Shown beside the label. */
  hint?: string
  /** Additional search words. */
  keywords?: string
  /** The path that it opens, below `/settings`; a page of the documentation starts with `/docs` and opens a tab. */
  to: string
}

/** The pages and actions of an account, without its data. */
export function listCommands(account: Account, others: readonly Account[]): Command[] {
  const at = (path: string) => `/${account.accountId}/${path}`
  const changes: Command[] = [
    { group: 'Actions', label: t`Send a test message`, keywords: t`try template`, to: at('templates') },
    {
      group: 'Actions',
      label: t`Stop messages to a number`,
      keywords: t`add to suppression list opt out block unsubscribe`,
      to: at('suppressions#add'),
    },
    { group: 'Actions', label: t`Invite a person`, keywords: t`add member user colleague`, to: at('people#invite') },
    {
      group: 'Actions',
      label: t`Replace the API key`,
      keywords: t`regenerate rotate new secret`,
      to: at('public-api#api-key'),
    },
    {
      group: 'Actions',
      label: t`Create a template`,
      keywords: t`new add gallery order pickup delivery appointment invoice payment password code`,
      to: at('templates/new'),
    },
    {
      group: 'Actions',
      label: t`Connect a WhatsApp number`,
      keywords: t`new add token meta`,
      to: at('whatsapp-accounts/connect'),
    },
  ]
  return [
    ...(account.role === 'owner' ? changes : []),
    {
      group: 'Actions',
      label: t`Show failed messages`,
      keywords: t`errors problems`,
      to: at('messages?status=failed'),
    },
    {
      group: 'Actions',
      label: t`Costs of this month`,
      keywords: t`spending money bill charges`,
      to: at('overview?calendar=thisMonth#costs'),
    },
    {
      group: 'Actions',
      label: t`Show an example request`,
      keywords: t`curl snippet code`,
      to: at('public-api#example-request'),
    },
    { group: 'Actions', label: t`Change my password`, keywords: t`authenticator sessions security`, to: '/profile' },
    ...accountPages.map(({ path, label, keywords }): Command => ({
      group: 'Pages',
      label: translate(label),
      keywords: translate(keywords),
      to: at(path),
    })),
    { group: 'Pages', label: t`Profile`, to: '/profile' },
    ...helpPages.map(({ path, label }): Command => ({
      group: 'Documentation',
      label: translate(label),
      keywords: t`docs help guides`,
      to: path,
    })),
    ...others.map(({ accountId, name }): Command => ({
      group: 'Accounts',
      label: name,
      keywords: t`switch account`,
      to: `/${accountId}`,
    })),
  ]
}

export function toConsoleCommand(): Command {
  return { group: 'Pages', label: t`Console`, keywords: t`operator server accounts health`, to: '/console' }
}

/** The hint includes the status, unless the template is approved. */
export function toTemplateCommand(
  accountId: string,
  { name, language, status }: OwnTemplate,
  inWords: string,
): Command {
  return {
    group: 'Templates',
    label: name,
    hint: status === 'APPROVED' ? language : `${language} · ${inWords.toLowerCase()}`,
    to: `/${accountId}/templates?${new URLSearchParams({ name, language })}`,
  }
}

/** The hint includes the external ID if the search matched it. */
export function toMessageCommand(
  accountId: string,
  { messageId, to, template, externalId }: Message,
  { status, search }: { status: string; search: string },
): Command {
  const isFoundByExternalId = externalId?.toLowerCase().includes(search.toLowerCase()) === true
  return {
    group: 'Messages',
    label: showRecipient(to),
    hint: [...(isFoundByExternalId ? [externalId] : []), template, status.toLowerCase()].join(' · '),
    to: `/${accountId}/messages/${messageId}`,
  }
}

/** An entry in the search index of the documentation (`/docs/search.json`). */
export interface DocsEntry {
  url: string
  /** The title of the page, and of the section. */
  page: string
  title: string
  /** What readers also call the subject of the page, in each language of the dashboard. */
  keywords?: string
}

/**
 * The words of a search, without accents. Words such as "how much does a" are left out of a question, because no page has
 * them in its search words.
 */
function toSearchWords(text: string): string[] {
  const words = fold(text)
    .split(/[\s¿?¡!]+|[.,](?=\s|$)/)
    .filter(Boolean)
  const empty = new Set(
    fold(t`a an and are can do does for from how i in is it me much my of on the to what where`).split(' '),
  )
  const rest = words.filter((word) => !empty.has(word))
  return rest.length === 0 || words.length === 1 ? words : rest
}

/** In lower case and without accents, which searches leave out. */
function fold(text: string): string {
  return text.toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '')
}

function toParts(text: string): string[] {
  return fold(text).split(/[^\p{L}\p{N}]+/u)
}

const maxSections = 5

/** The sections whose title, or the search words of their page, have every word of the text; pages first. */
export function findDocs(entries: readonly DocsEntry[], text: string): Command[] {
  const words = toSearchWords(text)
  const matches = entries.filter(({ page, title, keywords = '' }) => {
    const parts = toParts(`${title} ${page} ${keywords}`)
    return words.every((word) => parts.some((part) => part.startsWith(word)))
  })
  const isPage = ({ page, title }: DocsEntry) => page === title
  return [...matches.filter(isPage), ...matches.filter((entry) => !isPage(entry))]
    .slice(0, maxSections)
    .map(({ url, page, title }) => ({
      group: 'Documentation',
      label: title,
      ...(page !== title && { hint: page }),
      to: url,
    }))
}

const maxPerGroup = 6

/**
 * Returns the commands in which each word of the text is the start of a word, so that `ship` finds `order_shipped`.
 * Commands whose label starts with the text come first.
 */
export function findCommands(commands: readonly Command[], text: string): Command[] {
  const words = toSearchWords(text)
  const matches = commands.filter(({ label, hint = '', keywords = '' }) => {
    const all = fold(`${label} ${hint} ${keywords}`)
    const parts = toParts(all)
    return words.every((word) => all.startsWith(word) || parts.some((part) => part.startsWith(word)))
  })
  const [first = ''] = words
  const startsWith = ({ label }: Command) => fold(label).startsWith(first)
  const sorted = [...matches.filter(startsWith), ...matches.filter((command) => !startsWith(command))]
  const shown = new Map<Command['group'], number>()
  return sorted.filter(({ group }) => {
    const count = (shown.get(group) ?? 0) + 1
    shown.set(group, count)
    // There are few pages, and an empty search should show all of them.
    return group === 'Pages' || count <= maxPerGroup
  })
}
