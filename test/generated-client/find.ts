import createClient from 'openapi-fetch'
import type { components, paths } from './generated/waybill.ts'

export type Template = components['schemas']['Template']

/** Finds the messages about an order. */
export async function findMessages(options: { url: string; apiKey: string }, order: string) {
  const client = createClient<paths>({ baseUrl: options.url, headers: { 'X-API-Key': options.apiKey } })
  const { data, error } = await client.GET('/api/v1/message', { params: { query: { externalId: order, limit: 10 } } })
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`)
  return data.data.items.map(({ messageId, status, sentAt }) => ({ messageId, status, sentAt }))
}

export async function findTemplate(
  options: { url: string; apiKey: string },
  name: string,
  language = 'en',
): Promise<Template | undefined> {
  const client = createClient<paths>({ baseUrl: options.url, headers: { 'X-API-Key': options.apiKey } })
  const { data, error } = await client.GET('/api/v1/template/{name}/{language}', {
    params: { path: { name, language } },
  })
  if (error?.error.code === 'TEMPLATE_NOT_FOUND') return undefined
  if (error) throw new Error(`${error.error.code}: ${error.error.message}`)
  return data.data
}
