/**
 * Process: a stand-in for the Graph API that costs as little as a bare node:http server can. It accepts
 * every send, at once or after the milliseconds given as argument, and knows one template.
 */
import { createServer, type ServerResponse } from 'node:http'
import { listen } from './listen.ts'
import { example, templateComponents } from './example.ts'

const delayMilliseconds = Number(process.argv[2] ?? 0)
let count = 0

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  request.resume().once('end', () => {
    if (request.method === 'GET') answer(response, request.url?.includes('message_templates') ? templates : phoneNumber)
    else if (delayMilliseconds === 0) answer(response, acceptance())
    else setTimeout(() => answer(response, acceptance()), delayMilliseconds)
  })
})

function answer(response: ServerResponse, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

function acceptance(): object {
  return {
    messaging_product: 'whatsapp',
    contacts: [{ input: '+34600111222', wa_id: '34600111222' }],
    messages: [{ id: `wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI${++count}`, message_status: 'accepted' }],
  }
}

const templates = {
  data: [
    {
      id: '1',
      name: example.template,
      language: example.language,
      status: 'APPROVED',
      category: 'UTILITY',
      parameter_format: 'POSITIONAL',
      components: templateComponents,
    },
  ],
  paging: {},
}

const phoneNumber = { id: '1', display_phone_number: '+34 600 111 222', verified_name: 'Bench' }

await listen(server)
