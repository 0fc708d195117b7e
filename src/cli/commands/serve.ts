import type { Role } from '../../http/serve.ts'
import { readConfig } from '../../platform/config.ts'
import { localCommand } from '../command.ts'

export const serve = localCommand({
  name: 'serve',
  summary: 'Run the service',
  args: [],
  options: {
    role: {
      value: 'all|api|worker',
      help: 'api: serve HTTP requests; worker: deliver webhooks; all (default): both',
      choices: ['all', 'api', 'worker'],
    },
  },
  notes: [
    'Configured by environment variables, such as DATABASE_URL, PORT and HOST (see the configuration guide).\nOn SIGTERM, readiness fails first; then running requests and deliveries finish.',
  ],
  examples: ['waybill serve', 'DATABASE_URL=postgres://… WAYBILL_SECRET_KEY=… HOST=0.0.0.0 waybill serve'],
  run: async (environment, { json, options: { role } }) => {
    // Imported here, because other commands start faster without it.
    const { runServer } = await import('../run-server.ts')
    await runServer(readConfig(environment), {
      command: 'serve',
      // One of the choices above, checked by the syntax.
      ...(role !== undefined && { role: role as Role }),
      whenListening: async (_app, url) =>
        console.log(json ? JSON.stringify({ url }) : `Waybill is listening on ${url}`),
      drainMilliseconds: 1_000,
    })
    return 0
  },
})
