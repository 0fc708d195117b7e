/** Writes the other forms of `openapi.json` to `dist/`, for linters and generators. The server makes its own. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { openApiForms } from '../http/openapi/openapi30.ts'

const root = path.resolve(import.meta.dirname, '../..')
const dist = path.join(root, 'dist')
const document = JSON.parse(readFileSync(path.join(root, 'openapi.json'), 'utf8'))

mkdirSync(dist, { recursive: true })
for (const [name, write] of Object.entries(openApiForms)) writeFileSync(path.join(dist, name), write(document))
