#!/usr/bin/env node
// Plain JavaScript of 2020, so that an old Node runs far enough to print the error below.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

const oldest = 24
// In a clone, Node runs the TypeScript sources; a package contains compiled files.
const source = new URL('./main.ts', import.meta.url)
const isClone = existsSync(source)

if (Number(process.versions.node.split('.')[0]) < oldest) {
  console.error(
    `Waybill needs Node ${oldest} or newer, and this is ${process.version}. ${
      isClone
        ? 'npm installs a supported version with the project. Run: npm run waybill -- <command>, or npm start'
        : 'Install a newer one: https://nodejs.org'
    }`,
  )
  process.exitCode = 1
} else {
  // Caches compiled code, because compiling takes a fifth of a server start and half of a short command. A read-only cache
  // is used, too. Portable, because an image is built in another folder than it runs in.
  process.env.NODE_COMPILE_CACHE_PORTABLE = '1'
  const cache = new URL(isClone ? '../../node_modules/.cache/node' : '../../.cache', import.meta.url)
  nodeModule.enableCompileCache(fileURLToPath(cache))
  // A reader of standard error that has gone, such as `head`, does not end a migration halfway.
  process.stderr.on('error', () => {})
  const load = (name) => import(new URL(isClone ? `./${name}.ts` : `./${name}.js`, import.meta.url).href)
  void load('processes/start-limits').then(async ({ limitStartMemory }) => {
    limitStartMemory(process.argv.slice(2), process.env)
    const { main } = await load('main')
    process.exitCode = await main(process.argv.slice(2), process.env)
  })
}
