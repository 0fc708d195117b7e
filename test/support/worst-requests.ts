import { z } from 'zod'
import { dashboardContracts } from '../../contracts/dashboard/index.ts'
import { contracts, restContracts } from '../../contracts/index.ts'
import { listProcedures, type Procedure, type SessionProcedure } from '../../contracts/procedure.ts'

/** A request as large as the server accepts, whose input is as expensive to parse as we know. */
export interface WorstRequest {
  method: string
  path: string
  /** Empty for a GET. */
  body: string
}

export const interfaces = ['REST', 'tRPC', 'tRPC batches', 'MCP', 'dashboard'] as const
export type Interface = (typeof interfaces)[number]

const bodyBytes = 63 * 1024
/** Node accepts 16 KiB of headers. */
const urlBytes = 12 * 1024
const batchSize = 10

/** JSON text with as many fields as fit. */
export function manyFields(bytes: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: bytes / 11 }, (_, index) => [`k${index}`, 1])))
}

function manyItems(bytes: number): string {
  return `[${Array.from({ length: bytes / 3 }, () => '{}').join()}]`
}

function deep(bytes: number): string {
  return '['.repeat(bytes / 2) + ']'.repeat(bytes / 2)
}

/** Inputs of about that many bytes as JSON: unknown fields, deep JSON, and one for each list and record of the schema. */
export function listWorstInputs({ input: schema, ...contract }: Procedure, bytes: number): string[] {
  const example = 'example' in contract ? (contract.example as { input?: object }).input : undefined
  const wide = [...findWide(schema, (text) => text)].map(({ isList, put }) => {
    const whole = put(isList ? manyItems(bytes) : manyFields(bytes))
    const given = JSON.stringify(example ?? {}).slice(1, -1)
    // The last of two fields of one name counts.
    return given === '' ? whole : `{${given},${whole.slice(1)}`
  })
  return [manyFields(bytes), `{"${firstField(schema)}":${deep(bytes)}}`, ...wide].filter(
    (text) => text.length <= bytes + 2_000,
  )
}

function firstField(schema: z.ZodObject): string {
  return Object.keys(schema.shape)[0] ?? 'a'
}

interface Wide {
  isList: boolean
  put: (text: string) => string
}

/** Where a schema takes a list or a record: a function that wraps its text in the objects around it. */
function* findWide(schema: unknown, put: Wide['put'], depth = 0): Generator<Wide> {
  const inner = unwrap(schema)
  if (depth > 6) return
  if (inner instanceof z.ZodObject)
    for (const [name, field] of Object.entries(inner.shape))
      yield* findWide(field, (text) => put(`{"${name}":${text}}`), depth + 1)
  if (inner instanceof z.ZodArray) {
    yield { isList: true, put }
    yield* findWide(inner.element, (text) => put(`[${text}]`), depth + 1)
  }
  if (inner instanceof z.ZodRecord) yield { isList: false, put }
}

function unwrap(schema: unknown): unknown {
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable
  return isWrapper ? unwrap(schema.def.innerType) : schema
}

/** The worst requests of every procedure through one interface. */
export function listWorstRequests(interfaceName: Interface): (WorstRequest & { name: string })[] {
  switch (interfaceName) {
    case 'REST':
      return listProcedures(restContracts).flatMap(({ name, contract }) => {
        const path = contract.path.replaceAll(/\{\w+\}/g, '%20')
        if (contract.method === 'GET') return [{ name, ...get(`${path}?${manyParameters()}`) }]
        return listWorstInputs(contract, bodyBytes).map((body) => ({ name, ...post(path, body) }))
      })
    case 'tRPC':
      return listProcedures(contracts).flatMap(({ name, contract }) => trpc(`/trpc/${name}`, name, contract))
    case 'tRPC batches':
      return listProcedures(contracts).map(({ name, contract }) => {
        const isQuery = contract.kind === 'query'
        const path = `/trpc/${Array(batchSize).fill(name).join()}?batch=1`
        const input = manyFields((isQuery ? urlBytes / 3 : bodyBytes) / batchSize)
        const all = `{${Array.from({ length: batchSize }, (_, index) => `"${index}":${input}`).join()}}`
        return { name, ...(isQuery ? get(`${path}&input=${encodeURIComponent(all)}`) : post(path, all)) }
      })
    case 'MCP':
      return listProcedures(contracts).flatMap(({ name, contract }) =>
        listWorstInputs(contract, bodyBytes - 200).map((input) => {
          const params = `{"name":"${name.replaceAll('.', '_')}","arguments":${input}}`
          return { name, ...post('/mcp', `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`) }
        }),
      )
    case 'dashboard':
      return listProcedures<SessionProcedure>(dashboardContracts).flatMap(({ name, contract }) =>
        trpc(`/settings/trpc/${name}`, name, contract),
      )
  }
}

function trpc(path: string, name: string, contract: Procedure): (WorstRequest & { name: string })[] {
  if (contract.kind === 'query')
    return listWorstInputs(contract, urlBytes / 2).flatMap((input) => {
      const url = `${path}?input=${encodeURIComponent(input)}`
      return url.length > urlBytes + 2_000 ? [] : [{ name, ...get(url) }]
    })
  return listWorstInputs(contract, bodyBytes).map((input) => ({ name, ...post(path, input) }))
}

function manyParameters(): string {
  return Array.from({ length: urlBytes / 8 }, (_, index) => `k${index}=1`).join('&')
}

function get(path: string): WorstRequest {
  return { method: 'GET', path, body: '' }
}

function post(path: string, body: string): WorstRequest {
  return { method: 'POST', path, body }
}
