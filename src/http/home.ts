import type { FastifyInstance } from 'fastify'

export function registerHome(app: FastifyInstance): void {
  void app
}
