/* Particles that cluster, and snapshots of them gathered on one rank.
 *
 * A unit square is cut into vertical slabs, one for each rank. Particles fall towards a few
 * attractors, so some slabs fill and others become empty. Every few steps the middle rank gathers a
 * snapshot (position, kind and number of each particle) and appends it to a file. The file depends
 * on the seed and the number of ranks only.
 *
 *     mpirun -n 8 particles [-n particles] [-s steps] [-e steps between snapshots]
 *                           [-r seed] [-o file]
 */
#include <math.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  double place[2];
  double speed[2];
  float mass;
  int32_t kind;
  int64_t number;
} Particle;

/* The fields of a particle in a snapshot. */
typedef struct {
  double place[2];
  int64_t number;
  int32_t kind;
  int32_t slab;
} Record;

typedef struct {
  Particle* items;
  int count;
  int capacity;
} Particles;

typedef struct {
  long particles;
  int steps;
  int every;
  uint64_t seed;
  const char* output;
} Options;

enum { attractors = 3 };
static const double attractor[attractors][2] = {{0.21, 0.3}, {0.27, 0.7}, {0.74, 0.5}};
static const double time_step = 0.04;

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) {
    fprintf(stderr, "particles: out of memory for %zu items of %zu bytes\n", count, size);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static double uniform(uint64_t* state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int slab_of(const Particle* particle, int slabs) {
  const int slab = (int)(particle->place[0] * slabs);
  return slab < 0 ? 0 : slab >= slabs ? slabs - 1 : slab;
}

static MPI_Datatype particle_type(void) {
  MPI_Datatype type;
  const int lengths[] = {4, 1, 1, 1};
  const MPI_Aint places[] = {offsetof(Particle, place), offsetof(Particle, mass),
                             offsetof(Particle, kind), offsetof(Particle, number)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_FLOAT, MPI_INT32_T, MPI_INT64_T};
  MPI_Type_create_struct(4, lengths, places, types, &type);
  MPI_Type_commit(&type);
  return type;
}

/* The fields of a Particle that a Record has, in the order of the Record. */
static MPI_Datatype view_type(void) {
  MPI_Datatype fields, type;
  const int lengths[] = {2, 1, 1};
  const MPI_Aint places[] = {offsetof(Particle, place), offsetof(Particle, number),
                             offsetof(Particle, kind)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT64_T, MPI_INT32_T};
  MPI_Type_create_struct(3, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(Particle), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&fields);
  return type;
}

/* A Record without its slab, which the root adds. */
static MPI_Datatype record_type(void) {
  MPI_Datatype fields, type;
  const int lengths[] = {2, 1, 1};
  const MPI_Aint places[] = {offsetof(Record, place), offsetof(Record, number),
                             offsetof(Record, kind)};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_INT64_T, MPI_INT32_T};
  MPI_Type_create_struct(3, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(Record), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&fields);
  return type;
}

static int prefix_sums(const int* counts, int* displs, int p) {
  int sum = 0;
  for (int i = 0; i < p; ++i) {
    displs[i] = sum;
    sum += counts[i];
  }
  return sum;
}

static void reserve(Particles* particles, int count) {
  if (count <= particles->capacity) return;
  free(particles->items);
  particles->capacity = count + count / 2;
  particles->items = allocate((size_t)particles->capacity, sizeof(Particle));
}

/* Sorts by slab, stably; sets counts[i] to the number of particles in slab i. */
static Particle* sorted_by_slab(const Particle* items, int count, int* counts, int p) {
  Particle* sorted = allocate((size_t)count, sizeof(Particle));
  int* next = allocate((size_t)p, sizeof(int));
  memset(counts, 0, (size_t)p * sizeof(int));
  for (int i = 0; i < count; ++i) ++counts[slab_of(&items[i], p)];
  prefix_sums(counts, next, p);
  for (int i = 0; i < count; ++i) sorted[next[slab_of(&items[i], p)]++] = items[i];
  free(next);
  return sorted;
}

/* Rank 0 makes all particles, and sends each rank those of its slab. */
static void create(Particles* mine, const Options* options, MPI_Datatype type, int rank, int p) {
  int* counts = allocate((size_t)p, sizeof(int));
  int* displs = allocate((size_t)p, sizeof(int));
  Particle* all = NULL;
  if (rank == 0) {
    uint64_t state = options->seed;
    Particle* made = allocate((size_t)options->particles, sizeof(Particle));
    for (long i = 0; i < options->particles; ++i) {
      made[i].place[0] = uniform(&state);
      made[i].place[1] = uniform(&state);
      made[i].mass = (float)(0.5 + uniform(&state));
      const double chance = uniform(&state);
      made[i].kind = (int32_t)(chance * chance * attractors); /* most have the first kind */
      made[i].number = i;
    }
    all = sorted_by_slab(made, (int)options->particles, counts, p);
    prefix_sums(counts, displs, p);
    free(made);
  }
  MPI_Scatter(counts, 1, MPI_INT, &mine->count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  reserve(mine, mine->count);
  MPI_Scatterv(all, counts, displs, type, mine->items, mine->count, type, 0, MPI_COMM_WORLD);
  free(all);
  free(counts);
  free(displs);
}

/* Each particle falls towards the attractor of its kind, with some friction. */
static void move(Particles* particles) {
  for (int i = 0; i < particles->count; ++i) {
    Particle* particle = &particles->items[i];
    const double* to = attractor[particle->kind];
    for (int axis = 0; axis < 2; ++axis) {
      const double pull = (to[axis] - particle->place[axis]) / particle->mass;
      particle->speed[axis] = 0.97 * particle->speed[axis] + time_step * pull;
      particle->place[axis] += time_step * particle->speed[axis];
    }
  }
}

/* Sends particles that have left the slab to the ranks of their slabs. */
static void migrate(Particles* mine, MPI_Datatype type, int p) {
  int* counts = allocate(4 * (size_t)p, sizeof(int));
  int *displs = counts + p, *from = counts + 2 * p, *from_displs = counts + 3 * p;
  Particle* sorted = sorted_by_slab(mine->items, mine->count, counts, p);
  prefix_sums(counts, displs, p);
  MPI_Alltoall(counts, 1, MPI_INT, from, 1, MPI_INT, MPI_COMM_WORLD);
  mine->count = prefix_sums(from, from_displs, p);
  reserve(mine, mine->count);
  MPI_Alltoallv(sorted, counts, displs, type, mine->items, from, from_displs, type, MPI_COMM_WORLD);
  free(sorted);
  free(counts);
}

/* The root gathers all particles and appends them to the file, slab by slab. Returns, at the root,
 * the size of the largest slab over the mean. */
static double snapshot(const Particles* mine, MPI_Datatype view, MPI_Datatype record, int root,
                       int rank, int p, FILE* file) {
  int* counts = rank == root ? allocate(2 * (size_t)p, sizeof(int)) : NULL;
  int* displs = rank == root ? counts + p : NULL;
  Record* all = NULL;
  int total = 0;
  MPI_Gather(&mine->count, 1, MPI_INT, counts, 1, MPI_INT, root, MPI_COMM_WORLD);
  if (rank == root) {
    total = prefix_sums(counts, displs, p);
    all = allocate((size_t)total, sizeof(Record));
  }
  MPI_Gatherv(mine->items, mine->count, view, all, counts, displs, record, root, MPI_COMM_WORLD);
  if (rank != root) return 0;

  int largest = 0;
  for (int slab = 0; slab < p; ++slab) {
    if (counts[slab] > largest) largest = counts[slab];
    for (int i = 0; i < counts[slab]; ++i) all[displs[slab] + i].slab = slab;
  }
  if (fwrite(counts, sizeof(int), (size_t)p, file) != (size_t)p ||
      fwrite(all, sizeof(Record), (size_t)total, file) != (size_t)total) {
    perror("particles: cannot write the snapshot");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  free(all);
  free(counts);
  return (double)largest * p / (total > 0 ? total : 1);
}

static Options read_options(int argc, char** argv, int rank) {
  Options options = {20000, 200, 4, 1, "particles.bin"};
  for (int i = 1; i + 1 < argc; i += 2) {
    const char option = argv[i][0] == '-' ? argv[i][1] : '?';
    const char* value = argv[i + 1];
    if (option == 'n')
      options.particles = atol(value);
    else if (option == 's')
      options.steps = atoi(value);
    else if (option == 'e')
      options.every = atoi(value);
    else if (option == 'r')
      options.seed = strtoull(value, NULL, 10);
    else if (option == 'o')
      options.output = value;
    else
      options.every = 0;
  }
  if (argc % 2 == 0 || options.particles < 1 || options.particles > INT32_MAX ||
      options.steps < 0 || options.every < 1) {
    if (rank == 0) fprintf(stderr, "usage: particles [-n N] [-s N] [-e N] [-r N] [-o FILE]\n");
    MPI_Finalize();
    exit(2);
  }
  return options;
}

int main(int argc, char** argv) {
  int rank, p;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  const Options options = read_options(argc, argv, rank);
  const int root = p / 2;
  MPI_Datatype type = particle_type(), view = view_type(), record = record_type();

  FILE* file = rank == root ? fopen(options.output, "wb") : NULL;
  if (rank == root && file == NULL) {
    perror(options.output);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  Particles mine = {NULL, 0, 0};
  create(&mine, &options, type, rank, p);
  int snapshots = 0;
  double irregularity = 0, in_snapshots = 0;
  const double start = MPI_Wtime();
  for (int step = 1; step <= options.steps; ++step) {
    move(&mine);
    migrate(&mine, type, p);
    if (step % options.every == 0) {
      const double before = MPI_Wtime();
      irregularity = snapshot(&mine, view, record, root, rank, p, file);
      in_snapshots += MPI_Wtime() - before;
      ++snapshots;
    }
  }
  double mean[2] = {in_snapshots / p, (MPI_Wtime() - start) / p};
  MPI_Reduce(rank == root ? MPI_IN_PLACE : mean, mean, 2, MPI_DOUBLE, MPI_SUM, root,
             MPI_COMM_WORLD);
  if (rank == root) {
    if (fclose(file) != 0) {
      perror("particles: cannot write the snapshots");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    printf("%ld particles on %d ranks, %d snapshots, largest slab %.1f times the mean\n",
           options.particles, p, snapshots, irregularity);
    printf("seconds in snapshots %.6f of %.6f (mean of the ranks)\n", mean[0], mean[1]);
  }
  free(mine.items);
  MPI_Type_free(&type);
  MPI_Type_free(&view);
  MPI_Type_free(&record);
  MPI_Finalize();
  return 0;
}
