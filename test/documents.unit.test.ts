import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const root = path.resolve(import.meta.dirname, '..')
const documents = globSync(['*.md', 'docs/**/*.md', 'src/client/*.md'], { cwd: root })

function read(file: string): string {
  return readFileSync(path.join(root, file), 'utf8')
}

/** Anchors as Git hosts make them. */
function listAnchors(file: string): string[] {
  return [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  )
}

test.each(documents)('every link of %s leads to a file and a heading', (file) => {
  const links = [...read(file).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const dead = links.filter((link) => {
    if (/^(https?:|mailto:|\/)/.test(link)) return false
    const [target = '', anchor] = link.split('#')
    const linked = target === '' ? file : path.join(path.dirname(file), target)
    if (!existsSync(path.join(root, linked))) return true
    return anchor !== undefined && linked.endsWith('.md') && !listAnchors(linked).includes(anchor)
  })

  expect(dead).toEqual([])
})

test.each(documents.filter((file) => /^(CONTRIBUTING|README)|contributing\/(README|changes|releasing)/.test(file)))(
  'every file that %s names exists',
  (file) => {
    const named = [...read(file).matchAll(/`((?:src|test|contracts|docs)\/[\w./-]*[\w/])`/g)].map(
      ([, name = '']) => name,
    )

    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([])
  },
)

test('every folder in the table of the architecture exists', () => {
  const rows = read('docs/contributing/README.md').matchAll(/^\| `((?:src|contracts)\/[\w/-]*)`[^|]*\|(.*)\|$/gm)
  const named = [...rows].flatMap(([, folder = '', contents = '']) =>
    [...contents.matchAll(/`([\w-]+\/)`/g)].map(([, name = '']) => path.join(folder, name)),
  )

  expect(named.length).toBeGreaterThan(35)
  expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([])
})

test('the top level of the repository has at most 22 entries', () => {
  const ignored = readFileSync(path.join(root, '.gitignore'), 'utf8').split('\n')
  const entries = globSync('{*,.[!.]*}', { cwd: root }).filter(
    (name) => name !== '.git' && !ignored.some((pattern) => path.matchesGlob(name, pattern.replace(/\/$/, ''))),
  )

  expect(entries.slice(22)).toEqual([])
})

const text = read('docs/SECURITY.md')
const threatModel = text.slice(text.indexOf('## Threat model'), text.indexOf('## Software bill'))

/** The cells of each row below the headings. */
const rows = threatModel
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').slice(1, -1))

test('every test that SECURITY.md names exists', () => {
  const named = [...text.matchAll(/`(test\/[^`]+)`/g)].flatMap(([, file]) => file ?? [])

  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((file) => !file.endsWith('.test.ts') || !existsSync(path.join(root, file)))).toEqual([])
})

test('every row of the threat model has an attacker, entry, defence and test', () => {
  expect(rows.length).toBeGreaterThan(15)
  expect(rows.filter((cells) => cells.length !== 4 || cells.some((cell) => cell.trim() === ''))).toEqual([])
  expect(rows.filter(([, , , tests]) => !/`test\/[^`]+`/.test(tests ?? ''))).toEqual([])
})
