import { readConfig } from '../../config.ts'
import { localCommand } from '../command.ts'
import { runServer } from '../run-server.ts'

export const serve = localCommand({
  name: 'serve',
  summary: 'Run the service',
  args: [],
  options: {
    role: {
      value: 'all|api|worker',
      help: 'What this process does of it; there is one job so far, so each role does all of it',
      choices: ['all', 'api', 'worker'],
    },
  },
  notes: [
    'Configured by environment variables, such as DATABASE_URL, PORT and HOST; the README lists them.\nSIGTERM stops it: readiness fails first, then the requests in flight finish.',
  ],
  examples: ['waybill serve', 'DATABASE_URL=postgres://… WAYBILL_SECRET_KEY=… HOST=0.0.0.0 waybill serve'],
  run: async (environment, { json }) => {
    await runServer(readConfig(environment), {
      command: 'serve',
      whenListening: async (_app, url) => console.log(json ? JSON.stringify({ url }) : `Waybill listens on ${url}`),
      drainMilliseconds: 1_000,
    })
    return 0
  },
})
