import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** The network in front of a server. */
export interface Gate extends AsyncDisposable {
  port: number
  /** Drops everything in both directions from now on, and closes no connection, like a broken network. */
  close(): void
  /** New connections pass again. Those from before are lost. */
  open(): void
}

/** Passes connections to a port, by default of this machine. */
export async function openGate(to: number, host = '127.0.0.1'): Promise<Gate> {
  const sockets = new Set<Socket>()
  let isOpen = true
  const server = createServer((client) => {
    keep(client)
    if (!isOpen) return void client.pause()
    const behind = keep(connect(to, host))
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      one.pipe(other)
      one.on('close', () => isOpen && other.destroy())
    }
  })
  const keep = (socket: Socket) => {
    sockets.add(socket)
    // The other side may disappear at any time; `close` follows.
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const loseAll = () => sockets.forEach((socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A TCP server always has an address of this type.
  const { port } = server.address() as AddressInfo
  return {
    port,
    close: () => {
      isOpen = false
      for (const socket of sockets) socket.unpipe().pause()
    },
    open: () => {
      loseAll()
      isOpen = true
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      loseAll()
      await closed
    },
  }
}
