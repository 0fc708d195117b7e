import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startControlServer } from '../../../src/cli/control/server.ts'
import { chooseControlSocket } from '../../../src/cli/control/socket.ts'
import { createTestDeps } from '../../accounts/deps.ts'
import { openTestDatabase } from '../../support/database.ts'

test.skipIf(process.platform === 'win32')(
  'creates a private control socket in a folder that others can access',
  async () => {
    const database = await openTestDatabase()
    const folder = mkdtempSync(path.join(tmpdir(), 'waybill-socket-'))
    chmodSync(folder, 0o755)
    const umask = process.umask()
    const socket = chooseControlSocket(folder)

    const control = await startControlServer(createTestDeps(database), socket)

    expect(statSync(socket.path).mode & 0o777).toBe(0o600)
    expect(process.umask()).toBe(umask)
    await control.stop()
    await database.close()
    rmSync(folder, { recursive: true })
  },
)
