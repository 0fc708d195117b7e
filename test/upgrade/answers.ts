import { inject } from 'vitest'
import type { ServeProcess } from '../support/process.ts'
import { type Sent, sendOnce } from './traffic.ts'

interface Answer {
  success: boolean
  data: { items?: Record<string, unknown>[]; nextCursor?: string }
}

/** The answers of a version by request. */
export type Answers = Readonly<Record<string, unknown>>

const maxPages = 4

/** Asks for everything that must not change: messages, both lists page by page, and repetitions of sends. */
export async function readAnswers(server: ServeProcess, sent: readonly Sent[], until: string): Promise<Answers> {
  const answers: Record<string, unknown> = {}
  for (const { messageId } of sent.slice(0, 40)) {
    const path = `/api/v1/message/${messageId}`
    answers[path] = await get(server, path)
  }
  for (const list of ['/api/v1/message', '/api/v1/event']) {
    let cursor: string | undefined
    for (let page = 0; page < maxPages; page++) {
      const path = `${list}?limit=25&until=${until}${cursor === undefined ? '' : `&cursor=${cursor}`}`
      const answer = await get(server, path)
      answers[path] = answer
      cursor = answer.data.nextCursor
      if (cursor === undefined) break
    }
  }
  answers['/api/v1/suppression'] = await get(server, '/api/v1/suppression')
  const templates = await get(server, '/api/v1/template')
  answers['/api/v1/template'] = templates.data.items?.map(withoutChanges)
  for (const { key } of sent.slice(-20)) {
    const { statusCode, messageId } = await sendOnce(server, key)
    answers[`send again with ${key}`] = { statusCode, messageId }
  }
  return answers
}

/** Templates are synced again at each start, and their schema accepts a `recipient` instead of `to` from 0.2.0 on. */
function withoutChanges({ sendSchema, ...template }: Record<string, unknown>): object {
  // A JSON schema of a send (templates/send-schema.ts).
  const { required, ...schema } = sendSchema as { required: string[] }
  return { ...template, syncedAt: '', sendSchema: { ...schema, required: required.filter((name) => name !== 'to') } }
}

async function get(server: ServeProcess, path: string): Promise<Answer> {
  const { statusCode, text } = await server.get(path, inject('installed').apiKey)
  if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text}`)
  return JSON.parse(text) as Answer
}

/** Servers on one machine expect callbacks at addresses of their own, and WhatsApp has only one. */
const expectedFinding = 'callback_elsewhere'

/** Codes of the findings about the WhatsApp accounts. */
export async function readFindings(server: ServeProcess): Promise<string[]> {
  const { text } = await server.get('/api/v1/account/health', inject('installed').apiKey)
  const { data } = JSON.parse(text) as { data: { whatsAppAccounts: { findings: { code: string }[] }[] } }
  return data.whatsAppAccounts
    .flatMap(({ findings }) => findings.map(({ code }) => code))
    .filter((code) => code !== expectedFinding)
}
