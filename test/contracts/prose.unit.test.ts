import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from 'vite'
import { expect, test } from 'vitest'
import { factTexts } from '../../contracts/facts/catalogue.ts'

const root = path.resolve(import.meta.dirname, '../..')
const sentences = [...factTexts.values()]

/** Whether a text is a sentence of the catalogue, the beginning of one, or at least three words of one. */
function isProse(text: string): boolean {
  if (!/\p{L}{4,} |\p{L} \p{L}/u.test(text)) return false
  const words = text.match(/\p{L}+/gu) ?? []
  return sentences.some((sentence) => sentence.startsWith(text) || (words.length > 2 && sentence.includes(text)))
}

/** A node of the syntax tree (ESTree), as far as it is read here. */
interface Node {
  type: string
  name?: string
  operator?: string
  value?: unknown
  regex?: { pattern: string }
  quasis?: { value: { cooked?: string } }[]
  callee?: Node
  property?: Node
  object?: Node
  arguments?: Node[]
  left?: Node
  right?: Node
  test?: Node | null
  id?: Node
  init?: Node | null
}

function collect(value: unknown, nodes: Node[] = []): Node[] {
  if (typeof value !== 'object' || value === null) return nodes
  if ('type' in value && typeof value.type === 'string') nodes.push(value as Node)
  for (const child of Object.values(value)) collect(child, nodes)
  return nodes
}

/** Methods that compare, cut or search a text, by their first argument. */
const methods = /^(?:startsWith|endsWith|includes|indexOf|lastIndexOf|replace|replaceAll|split|match|matchAll|search)$/

/** What a node compares, cuts or searches with. */
function comparedWith(node: Node): readonly (Node | null | undefined)[] {
  if (node.type === 'CallExpression' && methods.test(node.callee?.property?.name ?? '')) return node.arguments ?? []
  if (node.type === 'BinaryExpression' && /^[!=]==?$/.test(node.operator ?? '')) return [node.left, node.right]
  if (node.type === 'SwitchCase') return [node.test]
  return node.regex ? [node] : []
}

/** The literal parts of a pattern: what is between its groups, classes and quantifiers. */
function partsOf(pattern: string): string[] {
  return pattern.replaceAll(/\\[a-z]|\[[^\]]*\]|\{\d+,?\d*\}/gi, '\n').split(/[\n()|?*+^$.\\]/)
}

/** Finds where the code compares, cuts or searches sentences: with a literal, or with a constant of the same file. */
function findComparisons(file: string, code: string): string[] {
  const nodes = collect(parseSync(file, code).program)
  const constants = new Map(nodes.flatMap(({ id, init }) => (id?.name !== undefined && init ? [[id.name, init]] : [])))
  const readParts = (node: Node | null | undefined): string[] => {
    if (!node) return []
    if (node.regex) return partsOf(node.regex.pattern)
    if (node.quasis) return node.quasis.map(({ value }) => value.cooked ?? '')
    if (typeof node.value === 'string') return [node.value]
    const constant = node.type === 'Identifier' ? constants.get(node.name ?? '') : undefined
    return constant && constant.type !== 'Identifier' ? readParts(constant) : []
  }
  const prose = nodes.flatMap(comparedWith).flatMap((node) => readParts(node).filter(isProse))
  return prose.map((text) => `${file} ${text.trim()}`)
}

function listFiles(): string[] {
  return globSync('{src,contracts}/**/*.{ts,tsx}', { cwd: root })
    .filter((file) => !/\/(?:built|node_modules|dist)\//.test(file))
    .sort()
}

test.each([
  `if (text.startsWith('must ')) cut()`,
  `text?.includes('an API key')`,
  `const rule = 'must not be empty'\nif (text === rule) say()`,
  'text.replace(`Try again in ${seconds}`)',
  `switch (text) { case 'is required': say() }`,
  `/^This account may send (.+?) requests/.exec(text)`,
])('finds the sentence in %s', (code) => {
  expect(findComparisons('a.ts', code)).toHaveLength(1)
})

test.each([`if (code.startsWith('must')) cut()`, `say('must not be empty')`, `/^file (\\d+)$/.exec(text)`])(
  'accepts %s',
  (code) => {
    expect(findComparisons('a.ts', code)).toEqual([])
  },
)

/** Names of texts that are sentences, unless somebody else wrote them. */
const sentenceName = /(?:problem|reason|sentence|english|message)$/i

function nameOf(node: Node | null | undefined): string {
  return node?.name ?? node?.property?.name ?? ''
}

/** Whether the code cuts or searches a text that is named like a sentence. */
function searchesSentence({ type, callee, arguments: [first] = [] }: Node): boolean {
  if (type !== 'CallExpression') return false
  const method = nameOf(callee)
  if (/^(?:exec|test)$/.test(method)) return sentenceName.test(nameOf(first))
  return (methods.test(method) || /^(?:slice|substring)$/.test(method)) && sentenceName.test(nameOf(callee?.object))
}

test.each([
  `problem.split('. ')`,
  `/"(.+)"/.exec(finding.message)`,
  `row.inactiveReason?.slice(1)`,
  `if (!message.includes(result.message)) say()`,
])('finds the search of a sentence in %s', (code) => {
  expect(collect(parseSync('a.ts', code).program).filter(searchesSentence)).toHaveLength(1)
})

/** They search the words of others, or only the full stop of a sentence. */
const searching = [
  // The beginning of a logged answer, cut from JSON.
  'src/accounts/requests/list.ts',
  // Node's, for options that do not exist.
  'src/client/cli/main.ts',
  // V8's, for JSON that does not parse.
  'src/http/api/input.ts',
  // Busboy's.
  'src/http/api/receive-form.ts',
  // The full stop of WhatsApp's text.
  'src/media/whatsapp-media-ids.ts',
  // Of PostgreSQL, PgBouncer, pg and PGlite, where they have no code.
  'src/platform/db/connect/connect-failure.ts',
  'src/platform/db/connect/session.ts',
  'src/platform/db/errors.ts',
  // Of the version before, which stored no fact.
  'src/whatsapp-accounts/inactive-reason.ts',
  // WhatsApp's.
  'src/whatsapp/client/refusal.ts',
  'src/whatsapp/failure-advice.ts',
]

test('code searches only messages of others', () => {
  const found = listFiles().filter((file) =>
    collect(parseSync(file, readFileSync(path.join(root, file), 'utf8')).program).some(searchesSentence),
  )

  expect(found).toEqual(searching)
})

const exceptions = [
  // A value of a closed type.
  'src/cli/run-server.ts timed out',
  // Meta's words. Without a subcode, only they identify the problem.
  'src/whatsapp-accounts/connect/advice.ts does not exist',
  // What the version before stores without a fact: it could not be recognized otherwise.
  'src/whatsapp-accounts/inactive-reason.ts WhatsApp',
  'src/whatsapp-accounts/inactive-reason.ts returned error code',
  'src/whatsapp-accounts/inactive-reason.ts WhatsApp disabled the business account (',
]

test('no code compares, cuts or searches a sentence of the catalogue', () => {
  const files = listFiles()
  const found = files.flatMap((file) => findComparisons(file, readFileSync(path.join(root, file), 'utf8')))

  expect(files.length).toBeGreaterThan(700)
  expect(found).toEqual(exceptions)
})
