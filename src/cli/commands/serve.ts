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
      help: 'What this process does: answer callers (api), deliver webhooks (worker), or both (all, the default)',
      choices: ['all', 'api', 'worker'],
    },
  },
  notes: [
    'Configured by environment variables, such as DATABASE_URL, PORT and HOST; the configuration guide lists them.\nSIGTERM stops it: readiness fails first, then the requests and deliveries under way finish.',
  ],
  examples: ['waybill serve', 'DATABASE_URL=postgres://… WAYBILL_SECRET_KEY=… HOST=0.0.0.0 waybill serve'],
  run: async (environment, { json, options: { role } }) => {
    // Loaded by whoever serves: all other commands do without, and answer sooner.
    const { runServer } = await import('../run-server.ts')
    await runServer(readConfig(environment), {
      command: 'serve',
      // One of the choices above: the line was checked against them.
      ...(role !== undefined && { role: role as Role }),
      whenListening: async (_app, url) => console.log(json ? JSON.stringify({ url }) : `Waybill listens on ${url}`),
      drainMilliseconds: 1_000,
    })
    return 0
  },
})
