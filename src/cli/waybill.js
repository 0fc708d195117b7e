#!/usr/bin/env node
// Plain JavaScript of 2020: an old Node must get as far as reading what to type instead.
import { existsSync } from 'node:fs'

const oldest = 24

if (Number(process.versions.node.split('.')[0]) < oldest) {
  console.error(
    `Waybill needs Node ${oldest} or newer, and this is ${process.version}. npm brings the right one along, so type: npm run waybill -- <command>, or npm start`,
  )
  process.exitCode = 1
} else {
  // In a clone the sources run as they are; a package holds what they compile to.
  const main = new URL('./main.ts', import.meta.url)
  import(existsSync(main) ? main.href : new URL('./main.js', import.meta.url).href).then(async (module) => {
    process.exitCode = await module.main(process.argv.slice(2), process.env)
  })
}
