import { expect, test } from 'vitest'
import type { StoredMessage } from '../../../../src/messages/columns.ts'
import { toMessage } from '../../../../src/messages/message.ts'
import { failed, listMissing } from '../../../messages/missing-fields.ts'

const dashboard = '../../../../src/dashboard'
/** The dashboard user has already chosen the account. The overview shows costs. */
const ownAccount = ['accountId', 'pricing']

/** Loads a module by a name that `tsc` does not follow, since the dashboard is typed for browsers. */
async function load<Module>(name: string): Promise<Module> {
  return (await import(name)) as Module
}

test('exports every column of a message as CSV', async () => {
  const { beginExport, continueExport } = await load<{
    beginExport: () => unknown
    continueExport: (from: unknown, pages: object) => Promise<{ parts: Blob[] }>
  }>(`${dashboard}/pages/messages/export-messages.ts`)
  const { noFilters } = await load<{ noFilters: unknown }>(`${dashboard}/pages/messages/message-filters.ts`)
  const toCsv = async (message: StoredMessage) => {
    const queryClient = {
      fetchQuery: () => Promise.resolve({ items: [{ ...toMessage(message), pricing: message.pricing }] }),
    }
    const { signal } = new AbortController()
    const pages = { queryClient, accountId: 'acc_1', filters: noFilters, signal, onProgress: () => {} }
    const { parts } = await continueExport(beginExport(), pages)
    return new Blob(parts).text()
  }

  expect(await toCsv(failed)).toContain('order-1042')
  expect(await listMissing(toCsv)).toEqual(['accountId'])
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
    QueryClient: new (options: object) => object
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
    const initialData = { message: toMessage(message), deliveries: [], items: [] }
    const client = new QueryClient({ defaultOptions: { queries: { initialData } } })
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
