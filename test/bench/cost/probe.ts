/**
 * Loaded into a measured server with `--import`, so that versions without any code for it can be measured. It answers
 * the questions of probed-process.ts and does nothing between them.
 */
import { Socket } from 'node:net'
import { GCProfiler, getHeapStatistics } from 'node:v8'
import type { ProbeAnswer, ProbeQuestion } from './probed-process.ts'
import { readStatements } from './measured.ts'

interface Started {
  profiler: GCProfiler
  usedHeap: number
  mainThread: NodeJS.CpuUsage
  process: NodeJS.CpuUsage
}

let started: Started | undefined
let statements: Map<string, number> | undefined
const databasePort = Number(new URL(process.env['DATABASE_URL'] ?? '').port)

function start(): void {
  const profiler = new GCProfiler()
  profiler.start()
  const usedHeap = getHeapStatistics().used_heap_size
  started = { profiler, usedHeap, mainThread: process.threadCpuUsage(), process: process.cpuUsage() }
}

function stop(): ProbeAnswer {
  if (!started) throw new Error('the probe was not started')
  const mainThread = sum(process.threadCpuUsage(started.mainThread))
  const cpu = sum(process.cpuUsage(started.process))
  const usedHeap = getHeapStatistics().used_heap_size
  const { statistics } = started.profiler.stop() as unknown as Profile
  // Node 24 has no counter of allocated bytes: what the heap gained between collections is within 1 % of it.
  let bytes = 0
  let afterLast = started.usedHeap
  for (const { beforeGC, afterGC } of statistics) {
    bytes += beforeGC.heapStatistics.usedHeapSize - afterLast
    afterLast = afterGC.heapStatistics.usedHeapSize
  }
  const fullCollections = statistics.filter(({ gcType }) => gcType === 'MarkSweepCompact').length
  return { bytes: bytes + usedHeap - afterLast, mainThread, process: cpu, fullCollections }
}

/** `GCProfiler.stop()` returns an object; `@types/node` declares it incompletely. */
interface Profile {
  statistics: { gcType: string; beforeGC: HeapSnapshotSize; afterGC: HeapSnapshotSize }[]
}

interface HeapSnapshotSize {
  heapStatistics: { usedHeapSize: number }
}

function sum({ user, system }: NodeJS.CpuUsage): number {
  return user + system
}

const write = Socket.prototype.write

function startCounting(): void {
  const counts = new Map<string, number>()
  statements = counts
  Socket.prototype.write = function (this: Socket, ...args: Parameters<Socket['write']>) {
    if (this.remotePort === databasePort && Buffer.isBuffer(args[0]))
      for (const name of readStatements(args[0])) counts.set(name, (counts.get(name) ?? 0) + 1)
    return Reflect.apply(write, this, args)
  } as Socket['write']
}

function stopCounting(): ProbeAnswer {
  Socket.prototype.write = write
  return { statements: Object.fromEntries(statements ?? []) }
}

process.on('message', (question: ProbeQuestion) => {
  if (question === 'start') start()
  if (question === 'count statements') startCounting()
  const answers = { start: () => ({}), 'count statements': () => ({}), stop, statements: stopCounting }
  process.send?.(answers[question]())
})
// The probe does not keep a server alive that has stopped.
process.channel?.unref()
