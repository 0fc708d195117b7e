/** Types for the files that `undici.ts` imports one by one. The package has types for its index only. */

declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export = Agent
}

declare module 'undici/lib/dispatcher/pool.js' {
  import { Pool } from 'undici'
  export = Pool
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici'
  export = buildConnector
}

declare module 'undici/lib/core/errors.js' {
  import { errors } from 'undici'
  export = errors
}

declare module 'undici/lib/core/symbols.js' {
  const symbols: { kSocket: symbol; kParser: symbol }
  export = symbols
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici'
  function request(this: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>
  export = request
}
