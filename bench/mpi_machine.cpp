/// Ping-pongs, bursts and many-to-one.
#include "bench/mpi_machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "bench/statistics.hpp"

namespace tutti::bench {

namespace {

constexpr int tag = 3;
constexpr std::size_t large = std::size_t{1} << 20;
constexpr double least = 1e-12;  // a machine's numbers are positive

double median_of(int repetitions, const std::function<double()>& once) {
  once();
  std::vector<double> samples;
  for (int repetition = 0; repetition < repetitions; ++repetition) samples.push_back(once());
  return summarize(std::move(samples)).median;
}

/// Half a round trip between the first and the last rank. Only those two call it.
double one_way(const Job& job, std::vector<char>& buffer, std::size_t bytes) {
  const double begin = MPI_Wtime();
  if (job.rank() == 0) {
    job.send(buffer.data(), bytes, job.p() - 1);
    job.receive(buffer.data(), bytes, job.p() - 1);
  } else {
    job.receive(buffer.data(), bytes, 0);
    job.send(buffer.data(), bytes, 0);
  }
  return (MPI_Wtime() - begin) / 2;
}

/// How long the first rank is busy with handing one message to MPI, in a burst to the last.
double send_overhead(const Job& job) {
  std::vector<MPI_Request> requests(32);
  const int count = static_cast<int>(requests.size());
  if (job.rank() != 0) {
    for (MPI_Request& request : requests) {
      MPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, job.control(), &request);
    }
    job.send(nullptr, 0, 0);  // all receives are posted
    wait_all(requests);
    return 0;
  }
  job.receive(nullptr, 0, job.p() - 1);
  const double begin = MPI_Wtime();
  for (MPI_Request& request : requests) {
    MPI_Isend(nullptr, 0, MPI_BYTE, job.p() - 1, tag, job.control(), &request);
  }
  const double busy = MPI_Wtime() - begin;
  wait_all(requests);
  return busy / count;
}

/// Time of a message when all from `first_sender` on send to rank 0 at once. All ranks call it.
double many_to_one(const Job& job, Rank first_sender) {
  constexpr int messages = 64;
  std::vector<MPI_Request> requests;
  const int senders = job.p() - first_sender;
  if (job.rank() == 0) {
    requests.resize(static_cast<std::size_t>(messages * senders));
    for (MPI_Request& request : requests) {
      MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag, job.control(), &request);
    }
  }
  job.barrier();
  const double begin = MPI_Wtime();
  if (job.rank() >= first_sender) {
    requests.resize(messages);
    for (MPI_Request& request : requests) {
      MPI_Isend(nullptr, 0, MPI_BYTE, 0, tag, job.control(), &request);
    }
  }
  wait_all(requests);
  const double seconds = MPI_Wtime() - begin;
  job.barrier(Patience::sleep);
  return seconds / (messages * senders);
}

}  // namespace

Result<Machine> machine_of(const Job& job) {
  std::string path;
  std::string text;
  std::string problem;
  if (const char* const named = std::getenv("TUTTI_MACHINE")) path = named;
  path = job.from_first(path);
  if (path.empty() || path == "built-in") return measure_machine(job);
  if (job.rank() == 0) {
    std::ifstream file(path);
    text.assign(std::istreambuf_iterator<char>(file), {});
    if (!file) problem = "it cannot be read";
  }
  text = job.from_first(text);
  problem = job.from_first(problem);
  Result<Machine> machine = machine_from_text(text);
  if (problem.empty() && machine) return machine;
  return Error{"TUTTI_MACHINE=" + path + ": " + (problem.empty() ? machine.error() : problem)};
}

Machine measure_machine(const Job& job) {
  Machine machine;
  if (job.p() == 1) return machine;
  job.barrier(Patience::sleep);
  if (job.rank() == 0 || job.rank() == job.p() - 1) {
    std::vector<char> buffer(large);
    machine.latency = median_of(200, [&] { return one_way(job, buffer, 0); });
    const double long_way = median_of(30, [&] { return one_way(job, buffer, large); });
    machine.per_byte = (long_way - machine.latency) / static_cast<double>(large);
    machine.overhead = median_of(50, [&] { return send_overhead(job); });
  }
  job.barrier(Patience::sleep);
  const bool crowded = job.crowding() > 1;
  machine.gap = median_of(20, [&] { return many_to_one(job, crowded ? job.p() - 1 : 1); });
  double* const fields[] = {&machine.latency, &machine.per_byte, &machine.overhead, &machine.gap};
  for (double* const field : fields) {
    *field = std::max(*field, least);
    MPI_Bcast(field, 1, MPI_DOUBLE, 0, job.control());
  }
  return machine;
}

}  // namespace tutti::bench
