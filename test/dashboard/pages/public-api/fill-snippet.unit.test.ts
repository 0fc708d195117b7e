import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { sendMessage } from '../../../../contracts/api/message.ts'
import { loadSite } from '../../../../src/http/docs/site/site.ts'
import { fillSnippet, readSnippets } from '../../../../src/dashboard/pages/public-api/fill-snippet.ts'

/** The guide as served, which is what the dashboard reads. */
const guide = (await loadSite())?.files.get('/docs/index.md')?.content ?? ''
const snippets = readSnippets(guide)
const url = 'http://127.0.0.1:3000'
const original = {
  to: '34600111222',
  template: 'order_shipped',
  language: 'en',
  variables: { '1': 'Ada', '2': 'WB-1042' },
  externalId: 'order-1042',
}
/** Texts that could end a string, and all other parts of a request. */
const difficult = {
  to: '34600111222',
  template: 'order_shipped',
  language: 'en_US',
  variables: { '1': `O'Neill "Ada" \\ $HOME \`id\` \${x} {$y} é 😀 %s`, '2': 'two\nlines\ttab' },
  header: { image: { id: 'med_1' } },
  buttons: [{ index: 0, text: `"""` }],
  undefinedOnes: undefined,
}

function find(language: string) {
  const snippet = snippets.find((known) => known.language === language)
  if (!snippet) throw new Error(`no snippet in ${language}`)
  return snippet
}

test('reads the snippets of the guide in all its languages', () => {
  expect(snippets.map(({ label, language }) => [label, language])).toEqual([
    ['curl', 'sh'],
    ['TypeScript', 'ts'],
    ['Python', 'python'],
    ['Go', 'go'],
    ['Java', 'java'],
    ['PHP', 'php'],
  ])
})

test.each(snippets)('fills the request of the guide into $label as the guide writes it', (snippet) => {
  const filled = fillSnippet(snippet, { url, request: original })
  const [key = ''] = /example-[0-9a-f]{8}/.exec(filled) ?? []

  expect(filled.replace(key, 'order-1042-shipped')).toBe(snippet.code)
  expect(fillSnippet(snippet, { url, request: { ...original, to: '34600999888' } })).not.toContain(key)
})

test.each(snippets)('calls the user’s own server in $label and keeps nothing of the example', (snippet) => {
  const { externalId: _, ...request } = sendMessage.example.input
  const filled = fillSnippet(snippet, {
    url: 'https://waybill.example.com',
    request: { ...request, template: 'welcome' },
  })

  expect(filled).toContain('https://waybill.example.com/api/v1/message/send')
  expect(filled).toContain('welcome')
  expect(filled).not.toMatch(/127\.0\.0\.1|order_shipped|order-1042/)
})

/** The parts of a request that JSON keeps. */
const sent = JSON.parse(JSON.stringify(difficult)) as object

test('writes any text literally for a shell', () => {
  const code = fillSnippet(find('sh'), { url, request: difficult })
  const body = code.slice(code.indexOf("-d '") + 3)

  expect(JSON.parse(execFileSync('sh', ['-c', `printf %s ${body}`], { encoding: 'utf8' }))).toEqual(sent)
})

test('writes any text literally for TypeScript', () => {
  const code = fillSnippet(find('ts'), { url, request: difficult })
  const [, body = ''] = /JSON\.stringify\((.*?)\),\n {2}signal/s.exec(code) ?? []
  const script = `process.stdout.write(JSON.stringify(${body}))`

  expect(JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }))).toEqual(sent)
})

test('writes any text literally for Java and Go', () => {
  const java = fillSnippet(find('java'), { url, request: difficult })
  const [, block = ''] = /"""\n(.*?)""";/s.exec(java) ?? []
  const go = fillSnippet(find('go'), { url, request: difficult })

  expect(block).not.toContain('"""')
  expect(JSON.parse(block.replaceAll('\\\\', '\\'))).toEqual(sent)
  expect(go).toContain('"to":')
  expect(go).toContain('"header":    map[string]any{"image": map[string]string{"id": "med_1"}},')
  expect(go).toContain(String.raw`"buttons":   []any{map[string]any{"index": 0, "text": "\"\"\""}},`)
})

test('writes any text literally for PHP', () => {
  const php = fillSnippet(find('php'), { url, request: difficult })

  expect(php).toContain(String.raw`'1' => 'O\'Neill "Ada" \\ $HOME`)
  expect(php).toContain(`'buttons' => [['index' => 0, 'text' => '"""']],`)
})

test('rejects a snippet without a request, or in another language', () => {
  expect(() => fillSnippet({ label: 'C', language: 'c', code: '' }, { url, request: original })).toThrow('in c')
  expect(() => fillSnippet({ label: 'curl', language: 'sh', code: 'curl' }, { url, request: original })).toThrow(
    'no request',
  )
})
