import { expect, test } from 'vitest'
import type { Template } from '../../../contracts/api/template.ts'
import { compareTypes } from '../../../src/client/types/compare.ts'
import { generateTypes } from '../../../src/client/types/generate.ts'

function template(fields: Partial<Template> & { sendSchema?: object } = {}): Template {
  return {
    name: 'order_shipped',
    language: 'en',
    status: 'APPROVED',
    sendable: true,
    placeholders: [
      { key: '1', example: 'Ada' },
      { key: '2', example: 'WB-1042' },
    ],
    components: [{ type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.' }],
    syncedAt: '2026-11-20T09:00:00.000Z',
    ...fields,
  }
}

const hello = template({ name: 'hello_world', language: 'en_US', placeholders: [], components: [] })

test('declares each template with its languages, variables and text', () => {
  expect(generateTypes([template(), hello])).toBe(`\
// Written by \`waybill-client types\` from the approved templates of the account.
// Do not edit: run it again when templates change.
export {}

declare module 'waybill-client' {
  interface ApprovedTemplates {
    hello_world: {
      en_US: {}
    }
    order_shipped: {
      /** Hello {{1}}, your order {{2}} is on its way. */
      en: {
        variables: {
          /** Fills {{1}}. For example: Ada */
          '1': string
          /** Fills {{2}}. For example: WB-1042 */
          '2': string
        }
      }
    }
  }
}
`)
})

test('generates the same text for the same templates in any order, whenever they were synced', () => {
  const spanish = template({ language: 'es' })
  const synced = { ...spanish, syncedAt: '2027-01-01T00:00:00.000Z' }

  expect(generateTypes([hello, synced, template()])).toBe(generateTypes([template(), hello, spanish]))
})

test('declares the header, buttons and code of a template that a newer server describes', () => {
  const file = { type: 'object', properties: { link: { type: 'string' }, filename: { type: 'string' } } }
  const sendSchema = {
    type: 'object',
    properties: {
      to: { type: 'string' },
      recipient: { type: 'string' },
      template: { const: 'invoice' },
      language: { const: 'en' },
      header: { type: 'object', properties: { document: file }, required: ['document'] },
      buttons: {
        type: 'array',
        items: {
          anyOf: [
            {
              type: 'object',
              properties: { index: { const: 0 }, url: { type: 'string' } },
              required: ['index', 'url'],
            },
            { type: 'object', properties: { index: { const: 1 }, flow: { type: 'object' } }, required: ['index'] },
          ],
        },
      },
      cards: {
        type: 'array',
        prefixItems: [
          { type: 'object', properties: { variables: { type: 'object' } }, required: ['variables'] },
          { type: 'object', properties: {} },
        ],
      },
      code: { type: 'string', description: 'The one-time code.' },
      externalId: { type: 'string' },
      accountId: { type: 'string' },
    },
    required: ['template', 'language', 'header', 'buttons'],
    anyOf: [{ required: ['to'] }, { required: ['recipient'] }],
  }
  const text = generateTypes([template({ name: 'invoice', components: [], sendSchema })])

  expect(text.replaceAll(/\s+/g, ' ')).toContain(
    'en: { header: { document: { link?: string filename?: string } } ' +
      'buttons: Array<{ index: 0 url: string } | { index: 1 flow?: Record<string, unknown> }> ' +
      'cards?: [{ variables: Record<string, unknown> }, {}] ' +
      '/** The one-time code. */ code?: string }',
  )
})

test('escapes texts of a template that could end a comment or a string', () => {
  const hostile = template({
    name: `a'b"c\\d\`e`,
    components: [{ type: 'BODY', text: 'x */ } } export const y = 1 /*\n\u2028*/' }],
    placeholders: [{ key: '__proto__', example: '*/' }, { key: "it's" }],
  })
  const text = generateTypes([hostile])

  expect(text).toContain(`    'a\\'b"c\\\\d\`e': {\n`)
  expect(text).toContain('__proto__: string')
  expect(text).toContain(`'it\\'s': string`)
  const declared = text.replaceAll(/\/\*\*.*?\*\/\n/g, '').replaceAll(/'(?:[^'\\]|\\.)*'/g, '')
  expect(declared).not.toMatch(/\*\/|\/\*|export const|\u2028/)
})

test('cuts a long text between characters, so that the file reads back as it was written', () => {
  const text = `${'x'.repeat(299)}😀 and more`
  const types = generateTypes([template({ components: [{ type: 'BODY', text }] })])

  expect(Buffer.from(types).toString()).toBe(types)
  expect(types).not.toContain('and more')
})

test('lists the templates that were added, removed or changed', () => {
  const before = generateTypes([template(), hello, template({ name: 'old' })])
  const after = generateTypes([template({ placeholders: [{ key: '1' }] }), hello, template({ language: 'es' })])

  expect(compareTypes(before, after)).toEqual({
    added: ['order_shipped (es)'],
    removed: ['old (en)'],
    changed: ['order_shipped (en)'],
  })
})

test('reports a text that changed, since its variables may mean something else now', () => {
  const swapped = template({ components: [{ type: 'BODY', text: 'Your order {{1}} is on its way, {{2}}.' }] })

  expect(compareTypes(generateTypes([template()]), generateTypes([swapped]))).toEqual({
    added: [],
    removed: [],
    changed: ['order_shipped (en)'],
  })
})

test('ignores changes by a formatter', () => {
  const text = generateTypes([template(), hello, template({ name: `it's {new}: really` })])
  const formatted = text
    .replaceAll(`'it\\'s {new}: really'`, `"it's {new}: really"`)
    .replaceAll(/'(\w+)'/g, '"$1"')
    .replaceAll('string\n', 'string;\n')
    .replaceAll('}\n', '},\n')
    .replaceAll('  ', '\t')
    .replaceAll('en_US: {}', '"en_US": {\n}')

  expect(formatted).not.toBe(text)
  expect(compareTypes(text, formatted)).toEqual({ added: [], removed: [], changed: [] })
})

test('ignores the bar that Prettier writes before a union', () => {
  const options = [
    { type: 'object', properties: { index: { const: 0 }, url: { type: 'string' } }, required: ['index', 'url'] },
    { type: 'object', properties: { index: { const: 1 } }, required: ['index'] },
  ]
  const properties = { buttons: { type: 'array', items: { anyOf: options } }, kind: { enum: ['flow', 'url'] } }
  const text = generateTypes([template({ sendSchema: { type: 'object', properties, required: [] } })])
  const formatted = text.replace('Array<{', 'Array<\n  | {').replace(`kind?: '`, `kind?:\n  | '`)

  expect(formatted.split('|')).toHaveLength(text.split('|').length + 2)
  expect(compareTypes(text, formatted)).toEqual({ added: [], removed: [], changed: [] })
})

test('finds nothing in an unrelated file', () => {
  expect(compareTypes('export interface Other { a: { b: { c: string } } }', generateTypes([hello]))).toEqual({
    added: ['hello_world (en_US)'],
    removed: [],
    changed: [],
  })
})
