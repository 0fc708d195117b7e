import { readFileSync } from 'node:fs'
import { contents } from '../../src/http/docs/site/contents.ts'

/** A code block of a guide, with its position. */
export interface Snippet {
  guide: string
  line: number
  language: string
  /** What the snippet does, from `run=` in its info string; undefined if it is not run. */
  run: string | undefined
  code: string
}

/** The guides that integrators read. */
const groups = new Set(['Get started', 'Guides', 'Reference', 'Migrate'])

/** In the order in which a reader meets them, from the README to the last guide. */
export function listSnippets(): Snippet[] {
  const guides = contents.filter(({ title }) => groups.has(title)).flatMap(({ pages }) => pages)
  return ['../README.md', ...guides.flatMap(({ file }) => file ?? [])].flatMap(extract)
}

function extract(file: string): Snippet[] {
  const guide = file.split('/').at(-1) ?? file
  const text = readFileSync(new URL(`../../docs/${file}`, import.meta.url), 'utf8')
  return [...text.matchAll(/^```(\w+)(?: run=(\w+))?\n(.*?)^```$/gms)].map((match) => {
    const [, language = '', run, code = ''] = match
    return { guide, line: text.slice(0, match.index).split('\n').length, language, run, code }
  })
}
