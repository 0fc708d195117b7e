import { escapeHtml } from '../site/escape.ts'
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import csharp from 'highlight.js/lib/languages/csharp'
import go from 'highlight.js/lib/languages/go'
import http from 'highlight.js/lib/languages/http'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import php from 'highlight.js/lib/languages/php'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'

/** The languages that code examples may use. Any other is rendered as plain text. */
export const languages = { sh: bash, csharp, go, http, java, json, php, python, ruby, sql, ts: typescript }
for (const [name, language] of Object.entries(languages)) hljs.registerLanguage(name, language)

/** Returns code as HTML with a class for each kind of token. */
export function highlight(code: string, language: string): string {
  return Object.hasOwn(languages, language) ? hljs.highlight(code, { language }).value : escapeHtml(code)
}
