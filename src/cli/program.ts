const { npm_package_name: packageName, npm_lifecycle_event: script = '' } = process.env

/**
 * How to run a command that we suggest: a clone has an npm script, and no `waybill` on the PATH. A running server, such
 * as the sandbox, answers for the commands of other processes.
 */
export const waybill =
  packageName === 'waybill' && ['start', 'waybill'].includes(script) ? 'npm run waybill --' : 'waybill'
