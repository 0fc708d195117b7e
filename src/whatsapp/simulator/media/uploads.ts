import { failPlainParameter, unknownPath } from '../errors.ts'
import type { SimulatorState } from '../state.ts'
import { type SimulatedResponse, ok } from '../response.ts'
import type { ReceivedRequest } from '../request.ts'

const acceptedTypes = new Set(['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4'])
/** Older samples are deleted, so that a sandbox that runs for weeks does not grow. */
const maxSamples = 50

/** `POST /<app ID>/uploads`: reference 2, section 3.4. */
export function startUpload(state: SimulatorState, { query }: ReceivedRequest): SimulatedResponse {
  const length = Number(query.get('file_length'))
  const type = query.get('file_type') ?? ''
  if (!Number.isInteger(length) || length < 1) return failPlainParameter('file_length')
  if (!acceptedTypes.has(type)) return failPlainParameter('file_type')
  const id = `upload:${Buffer.from(state.randomBytes(12)).toString('base64url')}`
  state.uploads.set(id, { length, type })
  return ok({ id })
}

/** `POST /upload:<session>`: the bytes of the file. */
export function receiveUpload(state: SimulatorState, request: ReceivedRequest, origin: string): SimulatedResponse {
  const id = request.path.slice(1)
  const upload = state.uploads.get(id)
  if (!upload) return unknownPath(request.path)
  if (request.method === 'GET') return ok({ id, file_offset: 0 })
  if (request.bytes.length !== upload.length) return failPlainParameter('file_offset')
  const key = Buffer.from(state.randomBytes(9)).toString('base64url')
  const handle = `4::${key}`
  const [oldest] = state.samples.keys()
  if (state.samples.size >= maxSamples && oldest !== undefined) state.samples.delete(oldest)
  state.samples.set(handle, { type: upload.type, bytes: request.bytes, url: `${origin}/samples/${key}` })
  state.uploads.delete(id)
  return ok({ h: handle })
}

/** The URL of a sample in a listing, which needs no token. */
export function readSample(state: SimulatorState, path: string): SimulatedResponse {
  const sample = state.samples.get(`4::${path.replace('/samples/', '')}`)
  return sample ? { kind: 'bytes', status: 200, contentType: sample.type, bytes: sample.bytes } : unknownPath(path)
}
