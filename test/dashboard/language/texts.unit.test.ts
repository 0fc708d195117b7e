import { glob, readFile } from 'node:fs/promises'
import path from 'node:path'
import { type NodePath, parseAsync, traverse, types } from '@babel/core'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '../../../src/dashboard')

/**
 * Finds text outside the catalogue: readable text that is in no Lingui macro. Names of props, keys and styles look
 * different: they are single words in lower case, or contain characters that sentences do not.
 */
async function findUntranslated(file: string): Promise<string[]> {
  const code = await readFile(path.join(root, file), 'utf8')
  const tree = await parseAsync(code, {
    filename: file,
    babelrc: false,
    configFile: false,
    parserOpts: { plugins: ['jsx', 'typescript'] },
  })
  if (!tree) throw new Error(`${file} has no code`)
  const found: string[] = []
  const report = (text: string, at: NodePath) => found.push(`${file}:${at.node.loc?.start.line} ${text.trim()}`)
  traverse(tree, {
    JSXText(text) {
      if (/\p{L}{2,}/u.test(text.node.value) && !isInTrans(text)) report(text.node.value, text)
    },
    StringLiteral(literal) {
      if (isSentence(literal.node.value) && !isTechnical(literal)) report(literal.node.value, literal)
    },
    TemplateLiteral(literal) {
      const text = literal.node.quasis.map(({ value }) => value.cooked ?? '').join('…')
      if (literal.parentPath.isTaggedTemplateExpression()) return
      if (isSentence(text) && !isTechnical(literal)) report(text, literal)
    },
  })
  return found.filter((one) => !isException(one))
}

/** An exception names a file and a text; the line of the text changes too often. */
function isException(one: string): boolean {
  const withoutLine = one.replace(/:\d+ /, ' ')
  return exceptions.some((exception) => withoutLine.includes(exception))
}

function isInTrans(text: NodePath): boolean {
  return (
    text.findParent((parent) => parent.isJSXElement() && nameOf(parent.node.openingElement.name) === 'Trans') !== null
  )
}

/** A capitalised word, or several words. */
function isSentence(text: string): boolean {
  if (
    !/\p{L}{2,}/u.test(text) ||
    /^(https?:|[./#@])|var\(--|calc\(|clamp\(|min\(|\d(px|rem|em|vh)\b|\bsolid\b/.test(text)
  )
    return false
  return /^\p{Lu}\p{Ll}+/u.test(text) || /\p{Ll}{2,} [\p{Ll}(…]|[…] \p{Ll}{2,}|^ \p{Ll}|\p{Ll} $/u.test(text)
}

/** Positions in the code that show no text. */
function isTechnical(literal: NodePath): boolean {
  const { parent } = literal
  if (types.isImportDeclaration(parent) || types.isTSLiteralType(parent) || types.isSwitchCase(parent)) return true
  if (types.isBinaryExpression(parent) || types.isMemberExpression(parent)) return true
  if (types.isObjectProperty(parent) && (parent.key === literal.node || technicalKeys.has(nameOf(parent.key))))
    return true
  if (types.isNewExpression(parent) && nameOf(parent.callee) === 'Error') return true
  if (types.isCallExpression(parent) && technicalCalls.has(nameOf(parent.callee))) return true
  if (literal.findParent((one) => one.isTSInterfaceDeclaration() || one.isTSTypeAliasDeclaration())) return true
  // `plural` and `msg` mark texts of the catalogue.
  if (literal.findParent((one) => one.isCallExpression() && macros.has(nameOf(one.node.callee)))) return true
  const attribute = literal.findParent((one) => one.isJSXAttribute() || one.isFunction())
  return attribute?.isJSXAttribute() === true && technicalProps.has(nameOf(attribute.node.name))
}

function nameOf(node: types.Node | null | undefined): string {
  if (types.isIdentifier(node) || types.isJSXIdentifier(node)) return node.name
  if (types.isStringLiteral(node)) return node.value
  if (types.isMemberExpression(node)) return nameOf(node.property)
  return ''
}

const macros = new Set(['plural', 'msg', 't'])
const technicalKeys = new Set(['fontFamily', 'fontFamilyMonospace', 'style', 'gridTemplateColumns', 'group'])
const technicalProps = new Set([
  'value',
  'one',
  'other',
  'aria-keyshortcuts',
  'style',
  'className',
  'd',
  'template',
  'points',
])
const technicalCalls = new Set([
  'set',
  'get',
  'matchMedia',
  'querySelector',
  'querySelectorAll',
  'closest',
  'useState',
  'has',
])

/** Each with its reason. */
const exceptions: readonly string[] = [
  // Names of products, languages, companies and keys.
  'layout/logo.tsx', // Waybill
  'language/language.ts', // each language by its own name
  'pages/alerts/chat-section.tsx Slack',
  'pages/alerts/chat-section.tsx Microsoft Teams',
  'PostgreSQL',
  'layout/header.tsx Ctrl K',
  'pages/messages/log-keys.ts', // Enter and Esc
  // Code: commands, snippets and the names of errors.
  'Error',
  'curl ',
  'pages/public-api/clients-section.tsx',
  'pages/public-api/fill-snippet.ts',
  "import { createFetchWebhookHandler } from 'waybill-client/webhook'",
  'lingui.config.ts',
  'vite.config.ts',
  // Parts of server texts, which are matched and replaced.
  'api/upload-sample.ts Must',
  // Keys of groups, whose names are in `groupNames`.
  ...['Pages', 'Actions', 'Templates', 'Messages', 'Documentation', 'Accounts'].map(
    (key) => `layout/commands.ts ${key}`,
  ),
  // Steps of a form, which are never shown.
  'pages/profile/authenticator-section.tsx',
  // WhatsApp's own text, in the language of the template.
  'pages/templates/editor/draft.ts',
  // Units.
  '… min',
  '… ms',
]

test('every text of the dashboard is in the catalogue', async () => {
  const files: string[] = []
  for await (const file of glob('**/*.{ts,tsx}', { cwd: root })) if (!file.startsWith('built')) files.push(file)
  const found = await Promise.all(files.sort().map(findUntranslated))

  expect(files.length).toBeGreaterThan(100)
  expect(found.flat()).toEqual([])
})
