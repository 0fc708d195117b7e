import { execFileSync } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sendMessage } from '../../contracts/api/message.ts'
import { codeOf } from '../../src/platform/error-code.ts'
import { startSimulator } from '../../src/whatsapp/simulator/simulator.ts'
import { startServe } from '../support/process.ts'
import { createCustomer, openApp } from './customer.ts'

test('does not start on a full disk, and sends nothing while it is full', async () => {
  const disk = await mountDisk('8m')
  let accepted = 0
  const simulator = await startSimulator({ onAccepted: () => accepted++ })
  onTestFinished(() => simulator.stop())
  const environment = { WAYBILL_DATA_DIR: path.join(disk.folder, 'data'), GRAPH_API_URL: simulator.url }

  await expect(startServe(environment)).rejects.toThrow(
    /ENOSPC: the files of the embedded database could not be written\. The disk is full: free some space/,
  )

  disk.resize('200m')
  const setUp = openApp(environment)
  const { apiKey } = await createCustomer(setUp, simulator)
  await setUp.close()
  disk.fill()
  await expect(startServe(environment)).rejects.toThrow(
    /ENOSPC: no space left on device.* The disk is full: free some space/,
  )

  await disk.empty()
  const node = await startServe(environment)
  onTestFinished(() => node.kill('SIGKILL'))
  const send = () => node.send(apiKey, sendMessage.example.input)
  expect((await send()).statusCode).toBe(200)

  disk.fill()
  // What is already allocated takes some more messages.
  let acknowledged = 1
  while ((await send()).statusCode === 200) acknowledged++
  expect((await send()).body.error?.code).toBe('SERVICE_UNAVAILABLE')
  expect(node.output.join('\n')).toContain('the disk of the database is full')
  expect(accepted).toBe(acknowledged)

  await disk.empty()
  await expect.poll(async () => (await send()).statusCode).toBe(200)
  node.kill('SIGTERM')
  expect(await node.exited).toEqual({ code: 0, signal: null })
})

/** A small disk, which only root can mount. */
async function mountDisk(size: string) {
  const folder = await mkdtemp(path.join(tmpdir(), 'waybill-disk-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  onTestFinished(async () => {
    execFileSync('umount', ['--lazy', folder])
    await rm(folder, { recursive: true })
  })
  const filler = path.join(folder, 'filler')
  return {
    folder,
    resize: (to: string) => execFileSync('mount', ['-o', `remount,size=${to}`, folder]),
    /** Writes until not even a page is left. */
    fill: () => {
      for (const size of [1_048_576, 4_096])
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size))
        } catch (error) {
          if (codeOf(error) !== 'ENOSPC') throw error
        }
    },
    empty: () => rm(filler),
  }
}
