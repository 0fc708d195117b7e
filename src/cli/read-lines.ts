import type { Socket } from 'node:net'

/** Each line as it comes in; what follows the last newline is none. Ends the socket when it ends. */
export async function* readLines(socket: Socket): AsyncGenerator<string> {
  socket.setEncoding('utf8')
  let rest = ''
  for await (const chunk of socket) {
    const [first = '', ...others] = String(chunk).split('\n')
    rest += first
    for (const line of others) {
      yield rest
      rest = line
    }
  }
}
