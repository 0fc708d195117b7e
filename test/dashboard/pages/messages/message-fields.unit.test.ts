import { expect, test } from 'vitest'
import { type StoredMessage, toMessage } from '../../../../src/messages/message.ts'
import { failed, listMissing } from '../../../messages/missing-fields.ts'

const dashboard = '../../../../src/dashboard'
/** The dashboard user has already chosen the account. The overview shows costs. */
const ownAccount = ['accountId', 'pricing']

/** Loads a module by a name that `tsc` does not follow, since the dashboard is typed for browsers. */
async function load<Module>(name: string): Promise<Module> {
  return (await import(name)) as Module
}

interface Exported {
  parts: Blob[]
  count: number
  cursor: string | undefined
}

async function exportFrom(from: Partial<Exported>, fetchQuery: (query: { queryKey: unknown[] }) => Promise<object>) {
  const { beginExport, continueExport } = await load<{
    beginExport: () => Exported
    continueExport: (from: Exported, pages: object) => Promise<Exported>
  }>(`${dashboard}/pages/messages/export-messages.ts`)
  const { noFilters: filters } = await load<{ noFilters: unknown }>(`${dashboard}/pages/messages/message-filters.ts`)
  const pages = { accountId: 'acc_1', filters, signal: new AbortController().signal, onProgress: () => {} }
  return continueExport({ ...beginExport(), ...from }, { ...pages, queryClient: { fetchQuery } })
}

async function toCsv(message: StoredMessage): Promise<string[]> {
  const items = [{ ...toMessage(message), pricing: message.pricing }]
  const { parts } = await exportFrom({}, () => Promise.resolve({ items }))
  return Promise.all(parts.map((part) => part.text()))
}

test('exports every column of a message as CSV', async () => {
  expect((await toCsv(failed)).join('')).toContain('order-1042')
  expect(await listMissing(toCsv)).toEqual(['accountId'])
})

test('ends an export after a million messages, and says that there are more', async () => {
  const inputs: unknown[] = []
  const exported = await exportFrom({ count: 999_999, cursor: 'msg_2' }, ({ queryKey }) => {
    inputs.push(queryKey.at(-1))
    return Promise.resolve({ items: [toMessage(failed)], nextCursor: 'msg_1' })
  })

  expect(inputs).toEqual([{ accountId: 'acc_1', limit: 1, cursor: 'msg_2' }])
  expect(exported).toMatchObject({ count: 1_000_000, cursor: 'msg_1' })
})

type Component = (props: object) => unknown

test('shows every column on the message page', async () => {
  const { createElement: h } = await load<{
    createElement: (type: unknown, props?: object, ...children: unknown[]) => unknown
  }>('react')
  const { renderToStaticMarkup } = await load<{ renderToStaticMarkup: (element: unknown) => string }>(
    'react-dom/server',
  )
  const { MemoryRouter } = await load<{ MemoryRouter: Component }>('react-router')
  const { MantineProvider } = await load<{ MantineProvider: Component }>('@mantine/core')
  const { QueryClient, QueryClientProvider } = await load<{
    QueryClient: new (options: object) => { setQueryData: (key: unknown[], data: unknown) => void }
    QueryClientProvider: Component
  }>('@tanstack/react-query')
  const { I18nProvider } = await load<{ I18nProvider: Component }>('@lingui/react')
  const { i18n } = await load<{ i18n: object }>(`${dashboard}/language/i18n.ts`)
  const { MessagePage } = await load<{ MessagePage: Component }>(`${dashboard}/pages/messages/message-page.tsx`)
  const { AccountContext, SessionContext } = await load<{ AccountContext: unknown; SessionContext: unknown }>(
    `${dashboard}/session/session.ts`,
  )
  const account = { accountId: 'acc_1', name: 'Acme', role: 'owner', canChange: true }
  const render = (message: StoredMessage) => {
    // Responds to every query of the page, for any key.
    const initialData = { message: toMessage(message), replies: [], deliveries: [], items: [] }
    const client = new QueryClient({ defaultOptions: { queries: { initialData } } })
    client.setQueryData(['whatsAppAccounts', account.accountId], [])
    const page = h(
      I18nProvider,
      { i18n },
      h(SessionContext, { value: {} }, h(AccountContext, { value: account }, h(MessagePage))),
    )
    return renderToStaticMarkup(h(MantineProvider, {}, h(QueryClientProvider, { client }, h(MemoryRouter, {}, page))))
  }

  expect(render(failed)).toContain('Message to +34600111222')
  expect(await listMissing(render)).toEqual(ownAccount)
})
