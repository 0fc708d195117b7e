import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import packageJson from '../../../package.json' with { type: 'json' }
import type { ToolDescription } from './tools.ts'

/** The result of a tool: the contract's output, or an error that the model can read. */
export type ToolResult = { data: object } | { error: object }

export interface Tools {
  descriptions: ToolDescription[]
  /** Calls a tool with the arguments of the message. Undefined if there is no such tool. */
  call(name: string): Promise<ToolResult> | undefined
}

/** The response to a message. */
export interface Answer {
  status: number
  contentType: string | null
  text: string
}

const instructions =
  'Sends pre-approved WhatsApp template messages. Find a template with template_list, check a message with message_preview, then send it with message_send. Use a new idempotencyKey for each message and the same one to repeat a call whose result is unknown: it never sends twice.'

/** Handles one message. No state is kept between messages, so any node can handle the next one. */
export async function answerMessage(request: Request, message: object, tools: Tools): Promise<Answer> {
  const handler = createMcpHandler(() => createServer(tools), {
    // An open stream would outlive its request, and this server has nothing to send on it.
    maxSubscriptions: 0,
    keepAliveMs: 0,
  })
  const response = await handler.fetch(request, { parsedBody: message })
  return { status: response.status, contentType: response.headers.get('content-type'), text: await response.text() }
}

function createServer({ descriptions, call }: Tools): Server {
  const { name, version } = packageJson
  const server = new Server({ name, version, title: 'Waybill' }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', () => ({ tools: descriptions }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const result = await call(params.name)
    if (!result)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no such tool. tools/list lists them.')
    return toCallResult(result)
  })
  return server
}

/** Also returns the data as text, for clients that do not read structured content. */
function toCallResult(result: ToolResult) {
  if ('error' in result) return { isError: true, content: [toText(result.error)] }
  const content = [toText(result.data)]
  return { content, structuredContent: { ...result.data } }
}

function toText(value: object) {
  return { type: 'text' as const, text: JSON.stringify(value) }
}
