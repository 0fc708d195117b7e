/**
 * Process: an account that sends the worst requests of every procedure through one interface, as fast as its connections take
 * them. A third of the connections reads one answer before the next request, a third pipelines requests, and a third
 * pipelines and never reads. Prints the address of the server once it has answered.
 */
import { connect } from 'node:net'
import { type Interface, listWorstRequests, type WorstRequest } from '../support/worst-requests.ts'

export interface FloodOptions {
  url: string
  interfaceName: Interface
  /** Credentials. */
  headers: Record<string, string>
  connections: number
  /** Only this procedure. */
  name?: string | undefined
}

// Written by overload.ts, the only file that starts this process.
const { url, interfaceName, headers, connections, name } = JSON.parse(process.argv[2] ?? '') as FloodOptions
const { hostname, port } = new URL(url)
const requests = listWorstRequests(interfaceName)
  .filter((request) => name === undefined || request.name === name)
  .map(write)

function write({ method, path, body }: WorstRequest): Buffer {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'Host: x',
    'Accept: application/json, text/event-stream',
    ...Object.entries(headers).map(([field, value]) => `${field}: ${value}`),
    ...(body === '' ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ]
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

let isAnswered = false

function flood(index: number): void {
  const kind = (['patient', 'pipelining', 'silent'] as const)[index % 3]
  let next = Math.floor((index * requests.length) / connections)
  const socket = connect({ host: hostname, port: Number(port) })
  const writeNext = () => socket.write(requests[next++ % requests.length] ?? '')
  const fill = () => {
    while (socket.writable && writeNext());
  }
  socket
    .on('error', () => {})
    .on('close', () => setTimeout(flood, 5, index))
    .on('connect', kind === 'patient' ? writeNext : fill)
  if (kind !== 'patient') socket.on('drain', fill)
  if (kind === 'silent') return void socket.pause()
  socket.on('data', () => {
    if (!isAnswered) console.log(url)
    isAnswered = true
    if (kind === 'patient') writeNext()
  })
}

for (let index = 0; index < connections; index++) flood(index)
