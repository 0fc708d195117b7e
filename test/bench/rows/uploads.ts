import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { summarize } from '../row.ts'
import { createCustomer } from '../customer.ts'
import { readResidentBytes, startProcess } from '../start-process.ts'
import type { Benchmark } from '../stage.ts'

const uploads = 100
const fileBytes = 16 * 1024 * 1024
const additionalMegabytes = 150
const sampleMilliseconds = 100
const restMilliseconds = 1_000

/** The memory of a server that receives many files at once, stores them and uploads them to WhatsApp. */
export const uploadsInMemory: Benchmark = {
  name: 'uploads',
  against: 'the same process before them',
  run: async (stage) => {
    await using upstream = await startProcess('test/bench/media-upstream.ts')
    await using customer = await createCustomer(stage, upstream.url)
    const folder = await mkdtemp(path.join(tmpdir(), 'waybill-bench-'))
    try {
      await using server = await startProcess('src/cli/waybill.js', {
        args: ['serve'],
        environment: { ...customer.environment, WAYBILL_DATA_DIR: folder, WAYBILL_MEDIA_MAX_UPLOADS: String(uploads) },
      })
      const { headers } = customer.sendThrough(server.url)
      const apiKey = headers['x-api-key'] ?? ''
      await using resources = new AsyncDisposableStack()
      const agent = new Agent({ connections: uploads, headersTimeout: 0, bodyTimeout: 0 })
      resources.defer(() => agent.destroy())
      const upload = () => uploadVideo(agent, server.url, apiKey)
      // The first upload loads the code.
      await upload()
      await delay(restMilliseconds)
      const other = (await readResidentBytes(server.pid)) / 1e6
      const ours = await measurePeak(server.pid, Promise.all(Array.from({ length: uploads }, upload)))
      const line = `peak of the resident memory while ${uploads} uploads of 16 MB arrive at once`
      const goal = { atMost: Number(((other + additionalMegabytes) / other).toFixed(2)) }
      return [summarize([{ ours, other }], { measure: line, unit: 'MB', goal })]
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}

/** In megabytes. */
async function measurePeak(pid: number, work: Promise<unknown>): Promise<number> {
  const ended = new AbortController()
  let peak = 0
  const finished = work.finally(() => ended.abort())
  const sample = async () => {
    while (!ended.signal.aborted) {
      peak = Math.max(peak, await readResidentBytes(pid))
      await delay(sampleMilliseconds)
    }
  }
  await Promise.all([finished, sample()])
  return peak / 1e6
}

const noise = randomBytes(64 * 1024)

/** Every video is different, because identical files are uploaded to WhatsApp only once. */
async function uploadVideo(dispatcher: Agent, url: string, apiKey: string): Promise<void> {
  const boundary = randomBytes(16).toString('hex')
  const start = Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="film.mp4"\r\n\r\n`),
    Buffer.from([0, 0, 0, 0x18]),
    Buffer.from('ftypisom'),
    randomBytes(16),
  ])
  const end = Buffer.from(`\r\n--${boundary}--\r\n`)
  const pieces = fileBytes / noise.length - 1
  async function* body() {
    yield start
    for (let piece = 0; piece < pieces; piece += 1) yield noise
    yield end
  }
  const { statusCode, body: responseBody } = await request(`${url}/api/v1/media/upload`, {
    dispatcher,
    method: 'POST',
    headers: {
      'x-api-key': apiKey,
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(start.length + pieces * noise.length + end.length),
    },
    body: Readable.from(body(), { objectMode: false }),
  })
  const text = await responseBody.text()
  if (statusCode !== 200) throw new Error(`an upload failed with HTTP ${statusCode}: ${text}`)
}
