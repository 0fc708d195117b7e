import type { Messages } from '@lingui/core'
import { expect, test } from 'vitest'
import { activate } from '../../../src/dashboard/language/i18n.ts'
import { type Command, findCommands, findDocs, listCommands } from '../../../src/dashboard/layout/commands.ts'

const account = { accountId: 'acc_1', name: 'Shop', role: 'owner' as const }
const commands = listCommands(account, [{ accountId: 'acc_2', name: 'Clinic', role: 'viewer' }])
const labelsFor = (text: string) => findCommands(commands, text).map(({ label }) => label)

test.each([
  { text: 'web', first: 'Webhooks' },
  { text: 'CURL', first: 'Show an example request' },
  { text: 'audit', first: 'Audit log' },
  { text: 'doc', first: 'Documentation' },
  { text: 'help', first: 'Documentation' },
  { text: 'changelog', first: 'Changelog' },
  { text: 'new template', first: 'Create a template' },
  { text: 'switch clinic', first: 'Clinic' },
  { text: 'block', first: 'Stop messages to a number' },
  { text: 'opt out', first: 'Stop messages to a number' },
  { text: 'export', first: 'Messages' },
  { text: 'price', first: 'Overview' },
  { text: 'cost', first: 'Costs of this month' },
  { text: 'time zone', first: 'Overview' },
  { text: 'invite', first: 'Invite a person' },
  { text: 'notification', first: 'Alerts' },
  { text: 'api key', first: 'Replace the API key' },
  { text: 'test', first: 'Send a test message' },
  { text: 'stop', first: 'Stop messages to a number' },
  { text: 'suppr', first: 'Suppressions' },
  { text: 'unsubscribe', first: 'Stop messages to a number' },
  { text: 'invoice', first: 'Create a template' },
  { text: 'how much does a message cost?', first: 'Overview' },
])('finds "$text"', ({ text, first }) => {
  expect(labelsFor(text)[0]).toBe(first)
})

test.each([
  { text: 'recoger', first: 'Crear una plantilla' },
  { text: 'darse de baja', first: 'Detener los mensajes a un número' },
  { text: 'precio', first: 'Resumen' },
  { text: 'coste', first: 'Costes de este mes' },
  { text: '¿Cuánto cuesta un mensaje?', first: 'Resumen' },
  { text: 'numero', first: 'Detener los mensajes a un número' },
])('finds "$text" in Spanish', async ({ text, first }) => {
  const file = '../../../src/dashboard/language/catalogues/es.po'
  // Compiled by the plugin of the dashboard.
  activate('es', ((await import(file)) as { messages: Messages }).messages)
  const found = findCommands(listCommands(account, []), text).map(({ label }) => label)
  activate('en', {})

  expect(found[0]).toBe(first)
})

test('shows labels that begin with the text before others', () => {
  expect(labelsFor('message').slice(0, 2)).toEqual(['Messages', 'Send a test message'])
})

test('finds no text within a word', () => {
  expect(labelsFor('emplate')).toEqual([])
})

test('needs every word of the text', () => {
  expect(labelsFor('webhooks template')).toEqual([])
})

test('finds a word of a template name', () => {
  const template: Command = { group: 'Templates', label: 'order_shipped', hint: 'en', to: '/t' }
  expect(findCommands([template], 'ship')).toEqual([template])
  expect(findCommands([template], 'order_sh')).toEqual([template])
})

test('shows at most six entries of a group, but every page', () => {
  const templates = Array.from({ length: 9 }, (_, index): Command => ({
    group: 'Templates',
    label: `template_${index}`,
    to: `/${index}`,
  }))
  const found = findCommands([...commands, ...templates], '')
  expect(found.filter(({ group }) => group === 'Templates')).toHaveLength(6)
  expect(found.filter(({ group }) => group === 'Pages').length).toBeGreaterThan(6)
})

test('omits actions that only owners may perform', () => {
  const viewer = listCommands({ ...account, role: 'viewer' }, [])
  expect(viewer.map(({ label }) => label)).not.toContain('Create a template')
})

test('finds sections of the documentation by their titles, pages first', () => {
  const entries = [
    { url: '/docs/webhooks#retries', page: 'Webhooks', title: 'Retries' },
    { url: '/docs/webhooks', page: 'Webhooks', title: 'Webhooks' },
    { url: '/docs/sending', page: 'Send messages', title: 'Send messages' },
  ]

  expect(findDocs(entries, 'webh')).toEqual([
    { group: 'Documentation', label: 'Webhooks', to: '/docs/webhooks' },
    { group: 'Documentation', label: 'Retries', hint: 'Webhooks', to: '/docs/webhooks#retries' },
  ])
  expect(findDocs(entries, 'webhooks retries').map(({ to }) => to)).toEqual(['/docs/webhooks#retries'])
  expect(findDocs(entries, 'ending')).toEqual([])
})

test('finds a page of the documentation by what readers also call its subject', () => {
  const entries = [{ url: '/docs/costs', page: 'Costs', title: 'Costs', keywords: 'invoice cuesta mensaje' }]

  for (const text of ['invoice', '¿cuesta?', 'how much does it cost', 'cost.'])
    expect(findDocs(entries, text).map(({ to }) => to)).toEqual(['/docs/costs'])
  expect(findDocs(entries, 'much invoices')).toEqual([])
})
