import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { Door } from './call.ts';
import { countOperations, TASKS_COUNTED } from './attention.ts';
import { countTasks } from './status.ts';

const registries = new WeakMap<Door, Registry>();

/** The metrics of one host in Prometheus' text format; counting begins with the first call. */
export async function renderMetrics(
  door: Door,
): Promise<{ readonly text: string; readonly type: string }> {
  const registry = registries.get(door) ?? register(door);
  registries.set(door, registry);
  return { text: await registry.metrics(), type: registry.contentType };
}

function register(door: Door): Registry {
  const registry = new Registry();
  const { engine } = door;
  collectDefaultMetrics({ register: registry });
  const add = (name: string, help: string, read: () => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read());
        },
      }),
    );
  };
  add('sekisho_ready', '1 while the host takes work', () =>
    engine.health().state === 'ready' ? 1 : 0,
  );
  add('sekisho_turns_running', 'Turns that run now', () => engine.health().runningTurns);
  add('sekisho_streams_open', 'Open event streams', () => door.slots.count);
  registry.registerMetric(openTasks(door));
  registry.registerMetric(openOperations(door));
  registry.registerMetric(answers(door));
  return registry;
}

function openTasks({ engine }: Door): Gauge {
  return new Gauge({
    name: 'sekisho_tasks_open',
    help: 'Tasks without an end, by state; counted up to 1000',
    labelNames: ['state'],
    registers: [],
    async collect() {
      const open = await engine.store.query('task.open', { limit: TASKS_COUNTED });
      for (const [state, count] of Object.entries(countTasks(open))) this.set({ state }, count);
    },
  });
}

function openOperations({ engine }: Door): Gauge {
  return new Gauge({
    name: 'sekisho_maintenance_open',
    help: 'Maintenance operations without an end, by state',
    labelNames: ['state'],
    registers: [],
    async collect() {
      const counts = await countOperations(engine);
      for (const [state, count] of Object.entries(counts)) this.set({ state }, count);
    },
  });
}

function answers({ answered }: Door): Counter {
  return new Counter({
    name: 'sekisho_http_answers_total',
    help: 'Answers of this process, by status',
    labelNames: ['status'],
    registers: [],
    collect() {
      this.reset();
      for (const [status, count] of answered) this.inc({ status: String(status) }, count);
    },
  });
}
