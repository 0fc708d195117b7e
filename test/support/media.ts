import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createMediaServices, type MediaServices } from '../../src/media/services.ts'
import type { MediaConfig } from '../../src/platform/config.ts'

/** A media store in its own folder, which the first upload creates. */
export function createTestMedia({
  stallMilliseconds = 20_000,
  ...config
}: Partial<MediaConfig> & { stallMilliseconds?: number } = {}): MediaServices & { folder: string } {
  const folder = path.join(tmpdir(), `waybill-media-${randomUUID()}`)
  const media = createMediaServices(
    {
      store: { kind: 'folder', path: path.join(folder, 'store') },
      spoolDir: path.join(folder, 'spool'),
      quotaBytes: 1024 * 1024 * 1024,
      maxUploads: 8,
      expirySeconds: 90 * 86_400,
      ...config,
    },
    { allowPrivate: true },
  )
  return { ...media, limits: { ...media.limits, stallMilliseconds }, folder }
}
