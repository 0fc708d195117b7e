#!/usr/bin/env node
// Plain JavaScript of 2020: an old Node must get as far as reading what to type instead.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

const oldest = 24
// In a clone the sources run as they are; a package holds what they compile to.
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
  // Kept code need not be compiled again, which is a fifth of a start and half of a short command. Node uses a cache that it
  // cannot write. Portable: an image is built in another folder than it runs in.
  process.env.NODE_COMPILE_CACHE_PORTABLE = '1'
  const cache = new URL(isClone ? '../../node_modules/.cache/node' : '../../.cache', import.meta.url)
  nodeModule.enableCompileCache(fileURLToPath(cache))
  const load = (name) => import(new URL(isClone ? `./${name}.ts` : `./${name}.js`, import.meta.url).href)
  void load('processes/start-limits').then(async ({ limitStart }) => {
    limitStart(process.argv.slice(2), process.env)
    const { main } = await load('main')
    process.exitCode = await main(process.argv.slice(2), process.env)
  })
}
