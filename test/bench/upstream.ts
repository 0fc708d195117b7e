/**
 * Process: a stand-in for the Graph API at minimum cost. It accepts every send, immediately or after the milliseconds
 * given as argument, and lists one template.
 */
import { example, templateComponents } from './example.ts'
import { listen } from './listen.ts'
import { createSocketServer } from './socket-server.ts'

const delayMilliseconds = Number(process.argv[2] ?? 0)
let count = 0

const server = createSocketServer(({ method, path }, respond) => {
  if (method === 'GET') respond(JSON.stringify(path.includes('message_templates') ? templates : phoneNumber))
  else if (delayMilliseconds === 0) respond(JSON.stringify(acceptance()))
  else setTimeout(() => respond(JSON.stringify(acceptance())), delayMilliseconds)
})

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
