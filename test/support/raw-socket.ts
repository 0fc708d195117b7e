import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'

/** A connection for what HTTP clients do not send. The server may reset it. */
export function openSocket(url: string): Socket {
  return connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
}

/** Everything that the server answers to these bytes until it closes the connection. */
export function askRaw(url: string, request: string): Promise<string> {
  return text(openSocket(url).end(request))
}
