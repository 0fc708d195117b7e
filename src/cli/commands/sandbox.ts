import { readConfig, type Config } from '../../config.ts'
import { startSimulator, type Simulator } from '../../whatsapp/simulator/simulator.ts'
import { localCommand } from '../command.ts'
import { prepareDemo } from '../demo.ts'
import { runServer } from '../run-server.ts'
import { writeWelcome } from '../welcome.ts'

/** The sandbox stands alone: what would lead it to real data or to the real WhatsApp does not count. */
const ignored = ['DATABASE_URL', 'GRAPH_API_URL']

export const sandbox = localCommand({
  name: 'sandbox',
  summary: 'Run the service with an embedded database, a simulated WhatsApp and a demo account (npm start)',
  args: [],
  options: {},
  notes: [`${ignored.join(' and ')} do not count here. The data is kept in WAYBILL_DATA_DIR (.waybill).`],
  examples: ['npm start', 'PORT=3001 npm start'],
  run: async (environment, { json }) => {
    const given = ignored.filter((name) => (environment[name] ?? '') !== '')
    if (given.length > 0)
      console.error(`${given.join(' and ')} ${given.length > 1 ? 'do' : 'does'} not count in the sandbox.`)
    const simulator = await startSimulator()
    try {
      await runServer(configure(environment, simulator), {
        command: 'sandbox',
        whenListening: async ({ deps }, url) => {
          const demo = await prepareDemo(deps, simulator)
          console.log(json ? JSON.stringify({ url, ...demo }) : `\n${writeWelcome(url, demo)}\n`)
        },
        drainMilliseconds: 0,
      })
    } finally {
      await simulator.stop()
    }
    return 0
  },
})

/** Log lines are kept for trouble, so that the welcome stays on the screen. */
function configure(environment: NodeJS.ProcessEnv, simulator: Simulator): Config {
  const own = Object.fromEntries(Object.entries(environment).filter(([name]) => !ignored.includes(name)))
  return readConfig({ LOG_LEVEL: 'warn', ...own, GRAPH_API_URL: simulator.url })
}
