import { openAsBlob } from 'node:fs'

/** What differs between the clients: everything else of the program is the same. */
export interface Client {
  send(to: string, template: string, idempotencyKey?: string): Promise<Outcome>
  listMessages(cursor: string | undefined): Promise<{ ids: string[]; nextCursor?: string }>
  upload(file: Blob, filename: string): Promise<string>
  listEvents(cursor: string | undefined): Promise<{ ids: string[]; nextCursor?: string }>
}

export type Outcome = { messageId: string } | { status: number; code: string; retryAfter: string | null }

export async function printReport(connect: (apiKey: string) => Client): Promise<void> {
  const client = connect(process.env['WAYBILL_API_KEY'] ?? '')
  const limitedClient = connect(process.env['WAYBILL_LIMITED_API_KEY'] ?? '')
  const send = async () => {
    const outcome = await client.send('34600111222', 'order_shipped', 'order-1042-shipped')
    if ('code' in outcome) throw new Error(outcome.code)
    return outcome.messageId
  }
  const fail = async (to: string, template: string, sender = client) => {
    const outcome = await sender.send(to, template)
    return 'code' in outcome ? outcome : undefined
  }
  const sent = await send()
  const repeated = await send()
  const unknownTemplate = await fail('34600111222', 'no_such_template')
  const invalid = await fail('+34600111222', 'order_shipped')
  let limited: Awaited<ReturnType<typeof fail>>
  for (let count = 0; count < 3 && !limited; count++)
    limited = await fail('34600111222', 'order_shipped', limitedClient)
  const report = {
    sent,
    repeated,
    unknownTemplate: { status: unknownTemplate?.status, code: unknownTemplate?.code },
    invalid: { status: invalid?.status, code: invalid?.code },
    limited: { status: limited?.status, code: limited?.code, retryAfter: Number(limited?.retryAfter) },
    messages: await listAll((cursor) => client.listMessages(cursor)),
    events: await listAll((cursor) => client.listEvents(cursor)),
    uploaded: await client.upload(await openAsBlob(process.env['WAYBILL_FILE'] ?? ''), 'Invoice 7.pdf'),
  }
  console.log(JSON.stringify(report))
}

async function listAll(fetchPage: Client['listMessages']): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
    const page = await fetchPage(cursor)
    ids.push(...page.ids)
    cursor = page.nextCursor
  }
  return ids
}
