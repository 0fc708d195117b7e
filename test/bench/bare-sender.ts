/** Process: `POST /<count>` makes that many signed POSTs to the URLs given as arguments. */
import { createServer } from 'node:http'
import { webhooks } from '../../contracts/events.ts'
import { listen } from './socket-server.ts'
import { createSignedPost, secret } from './callbacks.ts'

const urls = process.argv.slice(2)
/** The concurrency that Waybill's worker allows for eight endpoints. */
const concurrency = 512
const payload = JSON.stringify(webhooks['message.delivered'].example)
const post = createSignedPost(secret)

async function send(count: number): Promise<void> {
  let next = 0
  const loop = async () => {
    while (next < count) {
      const number = next++
      const id = `evt_01kah3bc4p${String(number).padStart(16, '0')}`
      await post({ url: urls[number % urls.length] ?? '', id, payload })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
}

const server = createServer((request, response) => {
  request.resume()
  void send(Number(request.url?.slice(1))).then(() => response.end())
})

await listen(server)
